import type { Command } from "commander";

import type { Terminal } from "./terminal.ts";
import { KitbagError, quote } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";

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
  /** For standard error, after `text`: what a person should know beside it. */
  readonly note?: string;
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

/** Makes the error for a command that was used in a way it does not have; exit code 2. */
export function usageError(reason: string): KitbagError<"usage-invalid"> {
  return new KitbagError("usage-invalid", { reason });
}

/** One thing that a command can do, named by its first word; it gets the other words as `args`. */
export interface Action {
  /** How many words it takes, at least and at most. */
  readonly words: readonly [least: number, most: number];
  /** What they are: `a file`. @default words */
  readonly takes?: string;
  run(invocation: Invocation): Promise<Answer>;
}

/**
 * Runs the action that the first word names, or `usual` if there is no word.
 *
 * @throws {KitbagError} `usage-invalid` if there is no such action, or it takes more or fewer words; whatever the action throws.
 */
export async function runAction(
  command: string,
  actions: Readonly<Record<string, Action>>,
  invocation: Invocation,
  usual?: string,
): Promise<Answer> {
  const [name = usual, ...args] = invocation.args;
  if (name === undefined) {
    throw usageError(`Cannot run kitbag ${command} alone: say one of ${Object.keys(actions).join(", ")}`);
  }
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    const cure = suggest(name, Object.keys(actions)).replaceAll('"', "");
    throw usageError(`Cannot run kitbag ${command} ${quote(name)}: there is no such action; ${cure}`);
  }
  const [least, most] = action.words;
  if (args.length >= least && args.length <= most) return action.run({ ...invocation, args });
  const expected = (args.length < least && action.takes) || showRange(least, most);
  throw usageError(`Cannot run kitbag ${command} ${name}: it takes ${expected}; see kitbag ${command} --help`);
}

function showRange(least: number, most: number): string {
  if (most === 0) return "no other words";
  if (least === 0 && most < Infinity) return `at most ${most} more word${most === 1 ? "" : "s"}`;
  const count = least === most ? `${least}` : most === Infinity ? `${least} or more` : `${least} to ${most}`;
  return `${count} more word${least === 1 && most === 1 ? "" : "s"}`;
}

/** The end of a message about an unknown name: the known one that was meant, or `otherwise`. */
export function suggest(asked: string, known: readonly string[], otherwise = `there are ${known.join(", ")}`): string {
  const [nearest] = nearestNames(asked, known, 1);
  return nearest === undefined ? otherwise : `did you mean ${quote(nearest)}?`;
}
