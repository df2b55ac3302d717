import type { Diagnostic } from "../../core/diagnostics.ts";

/** Something in a file that may do harm. It never makes a skill unusable: people decide. */
export interface Finding extends Diagnostic {
  readonly code: FindingCode;
  readonly risk: Risk;
  /** The place in question, shortened; secrets are masked. */
  readonly evidence: string;
}

/** `high`: hard to explain in an honest skill; `medium`: read it before you trust it; `low`: usual, but worth knowing. */
export type Risk = "high" | "medium" | "low";

/** What a scan can find. */
export type FindingCode =
  | "archive-with-password"
  | "command-encoded"
  | "decode-and-run"
  | "download-and-run"
  | "secret-exposed"
  | "shell-reverse"
  | "text-encoded"
  | "text-hidden";

/** A finding, before it has a file and a line. */
export interface Match {
  readonly code: FindingCode;
  readonly risk: Risk;
  readonly message: string;
  readonly cure: string;
  /** Where in the line it begins and ends. */
  readonly start: number;
  readonly end: number;
}

/** Looks at one line at a time, of at most a few thousand characters. */
export interface LineRule {
  /** Matches every text and every line that has something for this rule, and is fast. Not global. */
  readonly trigger: RegExp;
  find(line: string): Match[];
}
