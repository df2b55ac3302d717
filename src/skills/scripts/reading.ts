import type { DerivedInterface } from "./derived-interface.ts";
import type { ScriptKind, ScriptLanguage } from "./script-interface.ts";

/** A script as text. */
export interface SourceScript {
  readonly path: string;
  readonly fileName: string;
  readonly language: ScriptLanguage;
  readonly text: string;
}

/** What the reader of a language finds. */
export interface Reading {
  readonly kind: ScriptKind;
  readonly reason: string;
  /** What the script says that it does; empty if it says nothing. */
  readonly description: string;
  /** Set for tools. */
  readonly interface?: DerivedInterface;
  /** Instead of the usual interpreter of the language. */
  readonly interpreter?: readonly string[];
  /** The modules that it imports, where the reader knows them better than a look at the text does. */
  readonly modules?: readonly string[];
  /** The programs that it starts, where the reader knows them. */
  readonly programs?: readonly string[];
  /** The files that it reads and writes, where the reader knows them better than a look at the text does. */
  readonly redirected?: { readonly reads: readonly string[]; readonly writes: readonly string[] };
  /** Parts of the script could not be parsed. */
  readonly isPartial?: true;
}
