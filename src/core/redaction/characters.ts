/** Kinds of characters, each one bit: a set of characters is a sum of them. */
export const digits = 1;
export const lowers = 2;
export const uppers = 4;
export const underscores = 8;
export const dashes = 16;
export const dots = 32;
export const pluses = 64;
export const slashes = 8192;
export const equals = 128;
export const blanks = 256;
export const lineEnds = 16_384;
/** What else may stand before the `@` of an e-mail address. */
export const percents = 512;
/** Everything beyond ASCII. */
export const foreign = 1024;
export const parentheses = 32_768;
/** Quotes, brackets and the like: what a value ends at. */
const closers = 2048;
/** The rest of what can be seen. */
const others = 4096;

export const alphanumerics: number = digits + lowers + uppers;
export const words: number = alphanumerics + underscores;
/** The characters of base64 that is meant for URLs. */
export const urlBase64: number = words + dashes;
export const base64: number = alphanumerics + pluses + slashes + equals;
/** Anything that a value without a blank in it may hold. */
export const visible: number = urlBase64 + pluses + slashes + equals + dots + percents + foreign + others;

const kinds: readonly (readonly [characters: string, kind: number])[] = [
  ["0123456789", digits],
  ["abcdefghijklmnopqrstuvwxyz", lowers],
  ["ABCDEFGHIJKLMNOPQRSTUVWXYZ", uppers],
  ["_", underscores],
  ["-", dashes],
  [".", dots],
  ["+", pluses],
  ["/", slashes],
  ["=", equals],
  [" \t", blanks],
  ["\n\r", lineEnds],
  ["%", percents],
  ["()", parentheses],
  ["\"'`,;<>{}[]\\|", closers],
  ["!#$&*:?@^~", others],
];

const table = new Uint16Array(128);
for (const [characters, kind] of kinds) {
  for (const character of characters) table[character.charCodeAt(0)] = kind;
}

/** The kind of a character; 0 for control characters, and behind the end of a text. */
export function kindOf(code: number): number {
  return code < 128 ? (table[code] as number) : code > 127 ? foreign : 0;
}
