import { quote } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { usageError } from "../usage-error.ts";

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
 * @throws {KitbagError} `usage-invalid` if there is none, or it takes more or fewer words; whatever the action throws.
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
    const [nearest] = nearestNames(name, Object.keys(actions), 1);
    const cure = nearest === undefined ? `there are ${Object.keys(actions).join(", ")}` : `did you mean ${nearest}?`;
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
