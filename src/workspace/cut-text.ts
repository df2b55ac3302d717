/** The first `length` characters of a text, or one less where that would cut a character in two. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const isCutInTwo = (text.codePointAt(length - 1) ?? 0) > 0xffff;
  return text.slice(0, isCutInTwo ? length - 1 : length);
}
