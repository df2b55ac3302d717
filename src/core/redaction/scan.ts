import { alphanumerics, kindOf } from "./characters.ts";

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

  /** Where the next last line of a key begins, from `index` on; -1 if there is none. */
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
