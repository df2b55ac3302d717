import { shortenText } from "../core/cut-text.ts";
import { describeCause } from "../core/errors.ts";

/** The longest text of a foreign error that an outcome repeats, in characters. */
const longest = 4000;

/** Says what was thrown, at more length than a message inside a message would, and cut between characters. */
export function describeThrown(cause: unknown): string {
  return shortenText(describeCause(cause, Number.POSITIVE_INFINITY), longest);
}
