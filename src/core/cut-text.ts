/** The first `length` characters of a text, or one less where that would cut a character in two. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const isCutInTwo = (text.codePointAt(length - 1) ?? 0) > 0xffff;
  return text.slice(0, isCutInTwo ? length - 1 : length);
}

/** A text that is longer than `length` characters, cut there and with an ellipsis behind. */
export function shortenText(text: string, length: number): string {
  return text.length > length ? `${cutText(text, length)}…` : text;
}
