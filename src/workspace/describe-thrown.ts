import { describeCause } from "../core/errors.ts";

/** The longest text of somebody else's error that an outcome repeats, in characters. */
const longest = 4000;

/** Says what was thrown, at more length than a message inside a message would, and cut between characters. */
export function describeThrown(cause: unknown): string {
  const text = describeCause(cause, Number.POSITIVE_INFINITY);
  return text.length > longest ? `${cutText(text, longest)}…` : text;
}

/** The first `length` characters of a text, or one less where that would cut a character in two. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const isCutInTwo = (text.codePointAt(length - 1) ?? 0) > 0xffff;
  return text.slice(0, isCutInTwo ? length - 1 : length);
}
