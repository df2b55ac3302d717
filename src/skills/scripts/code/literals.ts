import type { JsonValue } from "../../../core/json.ts";
import { findClosing, isAnyToken, isToken, numberOf, splitArguments, type Token } from "./token.ts";

/** A value as it is written in source text, as far as it can be read. */
export type Literal =
  | { readonly kind: "value"; readonly value: JsonValue }
  | { readonly kind: "list"; readonly items: readonly Literal[] }
  | { readonly kind: "object"; readonly entries: readonly (readonly [key: string, value: Literal])[] }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "unknown" };

/** Constants by name: the index of the first token of their value. */
export type Constants = ReadonlyMap<string, number>;

const unknown: Literal = { kind: "unknown" };
const words: Readonly<Record<string, JsonValue>> = {
  true: true,
  false: false,
  null: null,
  undefined: null,
  True: true,
  False: false,
  None: null,
  nil: null,
  TRUE: true,
  FALSE: false,
  NULL: null,
  $true: true,
  $false: false,
  $null: null,
};

/** Finds `NAME = value`; of several for one name the first counts. */
export function findConstants(tokens: readonly Token[]): Constants {
  const constants = new Map<string, number>();
  for (let index = 1; index + 1 < tokens.length; index++) {
    if (!isToken(tokens[index], "=")) continue;
    const name = nameBefore(tokens, index);
    if (name !== undefined && !constants.has(name)) constants.set(name, index + 1);
  }
  return constants;
}

function nameBefore(tokens: readonly Token[], equals: number): string | undefined {
  const before = tokens[equals - 1];
  if (before?.kind === "word" && isAnyToken(tokens[equals - 2], declarers)) return before.text;
  const declared = nameWithType(tokens, equals);
  if (declared !== undefined) return declared;
  if (before?.kind !== "word" || isToken(tokens[equals - 2], ".")) return undefined;
  return before.text;
}

const declarers = new Set(["const", "let", "var"]);
const longestType = 40;

/** `const options: Options = …`, `const options: Config["options"] = …`, and Python's `options: Options = …`. */
function nameWithType(tokens: readonly Token[], equals: number): string | undefined {
  const line = tokens[equals]?.line;
  for (let index = equals - 2; index > 0 && index > equals - longestType && tokens[index]?.line === line; index--) {
    if (!isToken(tokens[index], ":")) continue;
    const name = tokens[index - 1];
    const isDeclared = isAnyToken(tokens[index - 2], declarers);
    return name?.kind === "word" && (isDeclared || index === equals - 2) ? name.text : undefined;
  }
  return undefined;
}

/** Reads the value between the tokens `from` and `to`. */
export function readLiteral(tokens: readonly Token[], range: Range, constants: Constants = new Map()): Literal {
  return new LiteralReader(tokens, constants).read(range, 0);
}

type Range = readonly [from: number, to: number];

const deepest = 20;
/** Constants made of constants can grow without end; nobody's options are as large as this. */
const mostParts = 5000;
const openers = new Set(["[", "{"]);
const colons = new Set([":", "=>", "="]);
const typeWords = new Set(["as", "satisfies"]);

class LiteralReader {
  readonly #tokens: readonly Token[];
  readonly #constants: Constants;
  #parts = 0;

  constructor(tokens: readonly Token[], constants: Constants) {
    this.#tokens = tokens;
    this.#constants = constants;
  }

  read(range: Range, depth: number): Literal {
    const [from, to] = range;
    const token = this.#tokens[from];
    this.#parts += 1;
    if (token === undefined || from >= to || depth > deepest || this.#parts > mostParts) return unknown;
    if (token.kind === "string") return this.#readText(range);
    if (token.kind === "number" || isToken(token, "-")) return this.#readNumber(range);
    if (isAnyToken(token, openers)) return this.#readBrackets(range, depth);
    return token.kind === "word" && this.#isEnd(from + 1, to) ? this.#readName(token.text, depth) : unknown;
  }

  #readName(name: string, depth: number): Literal {
    if (Object.hasOwn(words, name)) return { kind: "value", value: words[name] ?? null };
    const at = this.#constants.get(name);
    if (at === undefined) return { kind: "name", name };
    return this.read([at, findValueEnd(this.#tokens, at)], depth + 1);
  }

  /** After a value nothing may follow but a type: `as const`. */
  #isEnd(index: number, to: number): boolean {
    return index >= to || isAnyToken(this.#tokens[index], typeWords);
  }

  /** One string, or several that are put together. */
  #readText([from, to]: Range): Literal {
    let text = "";
    for (let index = from; !this.#isEnd(index, to); index++) {
      const token = this.#tokens[index];
      if (token?.kind === "string" && token.dynamic === undefined) text += token.text;
      else if (!isToken(token, "+")) return unknown;
    }
    return { kind: "value", value: text };
  }

  #readNumber([from, to]: Range): Literal {
    const sign = isToken(this.#tokens[from], "-") ? -1 : 1;
    const first = sign === -1 ? from + 1 : from;
    const number = numberOf(this.#tokens[first]);
    if (number === undefined || !Number.isFinite(number)) return unknown;
    if (this.#isEnd(first + 1, to)) return { kind: "value", value: sign * number };
    // `60 * 1000`
    const isProduct = isToken(this.#tokens[first + 1], "*") && this.#isEnd(first + 3, to);
    const factor = isProduct ? numberOf(this.#tokens[first + 2]) : undefined;
    return factor === undefined ? unknown : { kind: "value", value: sign * number * factor };
  }

  #readBrackets([from, to]: Range, depth: number): Literal {
    const close = findClosing(this.#tokens, from);
    if (!this.#isEnd(close + 1, to)) return unknown;
    const ranges = splitArguments(this.#tokens, from, close);
    if (isToken(this.#tokens[from], "[")) {
      return { kind: "list", items: ranges.map((range) => this.read(range, depth + 1)) };
    }
    return { kind: "object", entries: ranges.flatMap((range) => this.#readEntry(range, depth)) };
  }

  #readEntry([from, to]: Range, depth: number): readonly (readonly [string, Literal])[] {
    const key = this.#tokens[from];
    if (isToken(key, "...")) {
      const spread = this.read([from + 1, to], depth + 1);
      return spread.kind === "object" ? spread.entries : [];
    }
    if (key === undefined || key.kind === "symbol" || key.kind === "comment") return [];
    if (isAnyToken(this.#tokens[from + 1], colons)) return [[key.text, this.read([from + 2, to], depth + 1)]];
    return [[key.text, from + 1 === to && key.kind === "word" ? this.#readName(key.text, depth + 1) : unknown]];
  }
}

const allOpeners = new Set(["(", "[", "{"]);
const valueEnds = new Set([";", ",", ")"]);
const joiners = new Set(["+", "."]);

/** The end of the value that starts at `from`: where its statement or its line ends. */
export function findValueEnd(tokens: readonly Token[], from: number): number {
  const limit = Math.min(tokens.length, from + 3000);
  for (let index = from; index < limit; index++) {
    if (isAnyToken(tokens[index], allOpeners)) index = findClosing(tokens, index);
    const next = tokens[index + 1];
    if (next === undefined || isAnyToken(next, valueEnds)) return index + 1;
    const isContinued = isAnyToken(next, joiners) || isToken(tokens[index], "+");
    if (next.line > (tokens[index]?.line ?? 0) && !isContinued) return index + 1;
  }
  return limit;
}

/** The JSON that a literal is; nothing if any part of it could not be read. */
export function toJson(literal: Literal | undefined): JsonValue | undefined {
  switch (literal?.kind) {
    case "value":
      return literal.value;
    case "list": {
      const items = literal.items.map(toJson);
      return items.every((item) => item !== undefined) ? items : undefined;
    }
    case "object": {
      const entries = literal.entries.map(([key, value]) => [key, toJson(value)] as const);
      return entries.every(([, value]) => value !== undefined)
        ? (Object.fromEntries(entries) as Record<string, JsonValue>)
        : undefined;
    }
    case "name":
    case "unknown":
    case undefined:
      return undefined;
  }
}

/** The entry of an object by its key. */
export function entryOf(literal: Literal | undefined, key: string): Literal | undefined {
  return literal?.kind === "object" ? literal.entries.find(([name]) => name === key)?.[1] : undefined;
}

/** The text that a literal is. */
export function textOf(literal: Literal | undefined): string | undefined {
  const value = toJson(literal);
  return typeof value === "string" ? value : undefined;
}

/** The texts that a list has; others in it are left out. */
export function textsOf(literal: Literal | undefined): readonly string[] {
  if (literal?.kind === "list") return literal.items.map(textOf).filter((text) => text !== undefined);
  const text = textOf(literal);
  return text === undefined ? [] : [text];
}
