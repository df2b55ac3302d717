import { countStep } from "./budget.ts";

/** A piece of source text. */
export interface Token {
  readonly kind: "word" | "string" | "number" | "symbol" | "comment";
  /** Of a string: what is in the quotes, with the common escapes undone. Of a comment: what is after its mark. */
  readonly text: string;
  /** Counts from 1. */
  readonly line: number;
  /** A string with expressions in it; they stay in the text as they are written. */
  readonly dynamic?: true;
}

/** Tells whether `token` is the symbol or the word `text`. */
export function isToken(token: Token | undefined, text: string): boolean {
  countStep();
  return token !== undefined && token.text === text && (token.kind === "symbol" || token.kind === "word");
}

/** Tells whether `token` is one of these symbols and words. */
export function isAnyToken(token: Token | undefined, texts: ReadonlySet<string>): boolean {
  countStep();
  return token !== undefined && (token.kind === "symbol" || token.kind === "word") && texts.has(token.text);
}

/** The number that `token` is; nothing if it is none. */
export function numberOf(token: Token | undefined): number | undefined {
  return token?.kind === "number" ? Number(token.text.replaceAll("_", "")) : undefined;
}

/** Tells whether the tokens from `index` on are `texts`, one after the other. */
export function isSequence(tokens: readonly Token[], index: number, texts: readonly string[]): boolean {
  return texts.every((text, offset) => isToken(tokens[index + offset], text));
}

/** The index of the first token `text` from `from` on and before `to`; -1 if there is none. */
export function findToken(tokens: readonly Token[], [from, to]: readonly [number, number], text: string): number {
  for (let index = from; index < to; index++) if (isToken(tokens[index], text)) return index;
  return -1;
}

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** How far a bracket is looked for: many that nothing closes must not make the search slow. */
const farthest = 5000;

/**
 * The index of the token that closes the bracket at `open`; if none does within 5,000 tokens, that of the last one looked at.
 * Brackets of other kinds inside are stepped over.
 */
export function findClosing(tokens: readonly Token[], open: number): number {
  const stack: string[] = [];
  const limit = Math.min(tokens.length, open + farthest);
  for (let index = open; index < limit; index++) {
    countStep();
    const token = tokens[index];
    if (token?.kind !== "symbol") continue;
    const closer = closers[token.text];
    if (closer !== undefined) stack.push(closer);
    else if (token.text === ")" || token.text === "]" || token.text === "}") {
      // A stray closer is stepped over: source that is wrong must not send us to its end.
      while (stack.length > 1 && stack.at(-1) !== token.text) stack.pop();
      if (stack.at(-1) === token.text) stack.pop();
      if (stack.length === 0) return index;
    }
  }
  return limit - 1;
}

/** The ranges of tokens between `open` and `close` that commas separate, each as first index and index after the last. */
export function splitArguments(tokens: readonly Token[], open: number, close: number): (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  let start = open + 1;
  for (let index = start; index <= close; index++) {
    const token = tokens[index];
    if (index === close || isToken(token, ",")) {
      if (index > start) ranges.push([start, index]);
      start = index + 1;
    } else if (token?.kind === "symbol" && closers[token.text] !== undefined) {
      index = Math.min(findClosing(tokens, index), close - 1);
    }
  }
  return ranges;
}
