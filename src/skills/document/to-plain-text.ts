import { toVisibleText } from "../../core/hidden-characters.ts";

/** Text of a program without what steers a terminal or cannot be seen: colours, control characters, hidden Unicode. */
export function toPlainText(text: string): string {
  return toVisibleText(text.replaceAll(/\r\n?|\f/gu, "\n"));
}
