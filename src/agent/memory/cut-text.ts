/** Counts the tokens of a text. */
export type CountTokens = (text: string) => number;

/** So much of what stays of a text is its beginning. */
const headShare = 0.7;
/** The note between beginning and end has about so many tokens. */
const noteTokens = 16;

/** A text of at most so many tokens: its beginning and its end, with a note of what is missing between them. */
export function cutText(text: string, maxTokens: number, count: CountTokens): string {
  const tokens = count(text);
  if (tokens <= maxTokens) return text;
  if (maxTokens < 2 * noteTokens) return shorten(text, maxTokens, count, cutHead);
  return shorten(text, maxTokens, count, cutMiddle);
}

type Cut = (text: string, length: number) => string;

function shorten(text: string, maxTokens: number, count: CountTokens, cut: Cut): string {
  const tokens = Math.max(1, count(text));
  let length = Math.min(text.length - 1, Math.floor((text.length * maxTokens) / tokens));
  while (length > 0) {
    const made = cut(text, length);
    if (count(made) <= maxTokens) return made;
    length = Math.floor(length * 0.85);
  }
  return "";
}

/** The beginning of a text, with `…` behind. */
export function cutHead(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, endOf(text, Math.max(0, length - 1)))}…`;
}

function cutMiddle(text: string, length: number): string {
  const head = endOf(text, Math.floor(length * headShare));
  const tail = endOf(text, text.length - (length - head));
  const left = (tail - head).toLocaleString("en-US");
  return `${text.slice(0, head)}\n[… ${left} characters are left out here …]\n${text.slice(tail)}`;
}

/** A place at or before `index` that is not inside of a character. */
function endOf(text: string, index: number): number {
  const isInside = isHigh(text.charCodeAt(index - 1)) && isLow(text.charCodeAt(index));
  return isInside ? index - 1 : index;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}
