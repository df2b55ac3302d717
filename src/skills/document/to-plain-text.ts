import { stripVTControlCharacters } from "node:util";

import { findHiddenCharacters } from "./find-hidden-characters.ts";

/** Text of a program without what steers a terminal or cannot be seen: colours, control characters, hidden Unicode. */
export function toPlainText(text: string): string {
  const lines = stripVTControlCharacters(text).replaceAll(/\r\n?|\f/gu, "\n");
  let plain = "";
  let from = 0;
  for (const { offset, count } of findHiddenCharacters(lines)) {
    plain += lines.slice(from, offset);
    from = offset;
    for (let left = count; left > 0; left--) from += (lines.codePointAt(from) ?? 0) > 0xffff ? 2 : 1;
  }
  return plain + lines.slice(from);
}
