import type { Diagnostic } from "./diagnostics.ts";
import type { JsonObject } from "./json.ts";
import type { Tool } from "./tool.ts";

/** A command was not started. */
export interface CommandNotRun {
  readonly status: "not-run";
  readonly reason: string;
  /** What to do about it. @default the reason says it */
  readonly cure?: string;
}

/** What became of a command in the text of a skill. */
export type CommandAnswer =
  | {
      readonly status: "ran";
      /** What it printed. It is put into the text as it is, and not looked at again. */
      readonly output: string;
    }
  | { readonly status: "failed"; readonly reason: string }
  | CommandNotRun;

/**
 * A command that the text of a skill wants to have run before a model reads it. The tool is in no workspace: nothing can call it
 * but the text it stands in.
 */
export type SkillCommand =
  | { readonly ok: true; readonly tool: Tool; readonly input: JsonObject }
  | { readonly ok: false; readonly answer: CommandNotRun };

/** What the text of a skill is made with, beside the arguments. */
export interface TextParts {
  /** What became of its commands, in order. @default none was run */
  readonly answers?: readonly CommandAnswer[];
  /** Changes the text around the outputs of commands, piece by piece. @default it stays */
  readonly prose?: (text: string) => string;
  /** Told of each command that did not run, or failed. */
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void;
}
