/** What a matcher answers: the place that it found, or one for which more of the text is needed. */
export interface Hit {
  readonly start: number;
  /** `Infinity` if the text that there is does not decide it. */
  readonly end: number;
}

/** How far back a matcher may look: what a stream must remember of what it has shown. */
export const lookBehind = 80;

/** A text that is being searched, and what was already found out about it, so that nothing is read again and again. */
export class Scan {
  readonly text: string;
  /** Whether nothing follows. */
  readonly isWhole: boolean;
  /** Nothing before it may be replaced: it was shown, or it belongs to what was found last. */
  free: number;
  #runs: Map<number, { start: number; end: number }> | undefined;
  #searchedFrom = 0;
  #found: number | undefined;

  constructor(text: string, isWhole: boolean, free: number) {
    this.text = text;
    this.isWhole = isWhole;
    this.free = free;
  }

  /** Where the run of characters of `set` that begins at `index` ends. */
  runEnd(set: number, index: number): number {
    const known = this.#runs?.get(set);
    if (known !== undefined && index >= known.start && index <= known.end) return known.end;
    const { text } = this;
    let end = index;
    while (end < text.length && (kindOf(text.charCodeAt(end)) & set) !== 0) end += 1;
    if (known === undefined) (this.#runs ??= new Map()).set(set, { start: index, end });
    else {
      known.start = index;
      known.end = end;
    }
    return end;
  }

  /** Where the next last line of a key begins, from `index` on; -1 if no key ends there. */
  findKeyEnd(index: number): number {
    const found = this.#found;
    if (found !== undefined && index >= this.#searchedFrom && (found === -1 || index <= found)) return found;
    this.#searchedFrom = index;
    this.#found = this.text.indexOf("-----END ", index);
    return this.#found;
  }

  /** Tells whether what ends at `index` may go on in a text that is still to come. */
  isOpen(index: number): boolean {
    return !this.isWhole && index >= this.text.length;
  }

  /** Whether `prefix` stands at `index`; `undefined` if the text ends before that is decided. */
  startsWith(prefix: string, index: number): boolean | undefined {
    const { text } = this;
    if (text.startsWith(prefix, index)) return true;
    if (this.isWhole || text.length - index >= prefix.length) return false;
    return prefix.startsWith(text.slice(index)) ? undefined : false;
  }

  /** Tells whether a word begins at `index`. One also begins behind an escape: `%3D`, `\n`. */
  isWordStart(index: number): boolean {
    const { text } = this;
    if (index === 0 || (kindOf(text.charCodeAt(index - 1)) & alphanumerics) === 0) return true;
    return text[index - 2] === "\\" || text[index - 3] === "%";
  }
}

/** An answer that must wait for more of the text. */
export function undecided(start: number): Hit {
  return { start, end: Infinity };
}

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
