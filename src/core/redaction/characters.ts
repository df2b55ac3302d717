/** 0 to 9. Kinds of characters are one bit each: a set of them is a sum. */
export const digits = 1;
/** a to z. */
export const lowers = 2;
/** A to Z. */
export const uppers = 4;
/** `_` */
export const underscores = 8;
/** `-` */
export const dashes = 16;
/** `.` */
export const dots = 32;
/** `+` */
export const pluses = 64;
/** `/` */
export const slashes = 8192;
/** `=` */
export const equals = 128;
/** Spaces and tabs. */
export const blanks = 256;
/** What ends a line. */
export const lineEnds = 16_384;
/** What else may stand before the `@` of an e-mail address. */
export const percents = 512;
/** Everything beyond ASCII. */
export const foreign = 1024;
/** `(` and `)` */
export const parentheses = 32_768;
/** Quotes, brackets and the like: what a value ends at. */
const closers = 2048;
/** The rest of what can be seen. */
const others = 4096;

/** Letters and digits of ASCII. */
export const alphanumerics: number = digits + lowers + uppers;
/** What a name in code is made of. */
export const words: number = alphanumerics + underscores;
/** The characters of base64 that is meant for URLs. */
export const urlBase64: number = words + dashes;
/** The characters of base64. */
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
