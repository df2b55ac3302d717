/** Something to tell the author of a file: what is wrong, where, and how to put it right. Reading goes on. */
export interface Diagnostic {
  /** `error`: the thing cannot be used; `warning`: it is used, but something was guessed or ignored; `info`: worth knowing. */
  readonly severity: "error" | "warning" | "info";
  /** `noun-state`, kebab-case; pinned by tests. */
  readonly code: string;
  readonly message: string;
  /** Relative to the folder that was asked about, with `/`. */
  readonly file: string;
  /** Counts from 1. */
  readonly line?: number;
  /** Counts from 1. */
  readonly column?: number;
  /** What to do, as a sentence or as the text to write instead. */
  readonly cure?: string;
}
