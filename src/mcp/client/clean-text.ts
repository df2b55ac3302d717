import { findHiddenCharacters } from "../../skills/document/find-hidden-characters.ts";

/** A text of another server without the characters that a reader does not see, and not longer than `maxLength`. */
export function cleanText(text: string, maxLength: number): string {
  // What is beyond twice the length is cut anyway, and need not be read.
  const head = text.slice(0, 2 * maxLength);
  let clean = "";
  let from = 0;
  for (const { offset, count, codePoint } of findHiddenCharacters(head)) {
    clean += head.slice(from, offset);
    from = offset + count * (codePoint > 0xffff ? 2 : 1);
  }
  clean = (clean + head.slice(from)).trim();
  return clean.length > maxLength ? `${clean.slice(0, maxLength - 1)}…` : clean;
}
