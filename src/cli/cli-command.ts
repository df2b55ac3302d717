import type { Command } from "commander";

import type { Terminal } from "./terminal.ts";

/** How a command ended: done, failed, used wrongly. */
export type ExitCode = 0 | 1 | 2;

/** What the program around a command gives to it. */
export interface CliContext {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory. */
  readonly cwd: string;
}

/** One use of a command, its words taken apart. */
export interface Invocation extends CliContext {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** The answer will be shown as JSON: nothing else may go to standard output. */
  readonly json: boolean;
  /** Tools may be made in the working directory, so it keeps what they do from the first call on. @default false */
  readonly makesTools?: boolean;
}

/** What a command answers. The program shows `document` with `--json`, and `text` without. */
export interface Answer {
  /** Nothing if the command has already shown it, one event a line. */
  readonly document: unknown;
  /** For standard output; nothing if the command has already shown it. */
  readonly text?: string;
  /** For standard error: why it failed. */
  readonly failure?: string;
  /** @default 0 */
  readonly exitCode?: ExitCode;
}

/** One command, in a file of its own that is loaded when it is used. */
export interface CliCommand {
  /** Lines to type, each with what it does; shown by `--help`. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** What `--json` prints. @default "one JSON document" */
  readonly json?: string;
  /** Says which arguments and options there are; `--json` is there already. */
  define(command: Command): void;
  /** What `--help` shows in place of the help of the command; nothing for that. @default nothing */
  help?(invocation: Invocation): Promise<string | undefined>;
  /** Contract: throws a `KitbagError` for what the person can cure, and prints nothing on standard output but its chunks. */
  run(invocation: Invocation): Promise<Answer>;
}
