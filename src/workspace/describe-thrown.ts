import { cutText } from "./cut-text.ts";

/** The longest text of somebody else's error that an outcome repeats, in characters. */
const longest = 4000;

/** Says what was thrown. That may be anything: a text, nothing, or an object that throws when it is looked at. */
export function describeThrown(cause: unknown): string {
  try {
    const text = String(cause instanceof Error ? cause.message || cause.name : cause);
    return text.length > longest ? `${cutText(text, longest)}…` : text;
  } catch {
    return "something that cannot be shown";
  }
}
