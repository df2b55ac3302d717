import { toVisibleText } from "../../core/hidden-characters.ts";

/** A text of another server without the characters that a reader does not see, and not longer than `maxLength`. */
export function cleanText(text: string, maxLength: number): string {
  // What is beyond twice the length is cut anyway, and need not be read.
  const clean = toVisibleText(text.slice(0, 2 * maxLength)).trim();
  return clean.length > maxLength ? `${clean.slice(0, maxLength - 1)}…` : clean;
}
