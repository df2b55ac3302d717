/** A regular expression, taken apart. What uses up no text (`$`, `\b`, a look-behind) is a `pass`. */
export type PatternNode =
  | { readonly kind: "character"; readonly source: string }
  | { readonly kind: "pass" }
  | { readonly kind: "start" }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly part: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: "look-ahead"; readonly part: PatternNode };

/** What {@link parsePattern} answers. */
export type ParsedPattern =
  | {
      readonly ok: true;
      readonly tree: PatternNode;
      /** Whether something that uses up no text can still refuse a match. */
      readonly hasConditions: boolean;
    }
  | { readonly ok: false; readonly expected: string };

/** One token: an escape, a class, the opening of a group, a quantifier, or a single character. */
const tokenGrammar =
  /\\(?:[pPu]\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|k<[^>]*>|[1-9]\d*|.)|\[(?:\\.|[^\\\]])*\]|\(\?(?:<?[=!]|<[^>]*>|[a-z-]*:)|[*+?]\??|\{\d+(?:,\d*)?\}\??|./gsu;

/** What cannot be told from the pattern how long it takes, and what to say about it. */
const unreadable: readonly (readonly [token: RegExp, expected: string])[] = [
  [/^\\(?:[1-9]|k<)/u, "a pattern without references back to a group"],
  [/^\(\?[a-z-]+:/u, "a pattern without flags inside"],
];

/**
 * Takes `pattern` apart, which must be one that `new RegExp(pattern, "u")` takes; says what to write instead if that cannot
 * be done.
 */
export function parsePattern(pattern: string): ParsedPattern {
  const tokens = pattern.match(tokenGrammar) ?? [];
  for (const [grammar, expected] of unreadable) {
    if (tokens.some((token) => grammar.test(token))) return { ok: false, expected };
  }
  if (!tokens.every((token, index) => !isLookBehind(token) || isPlainUntilEnd(tokens, index + 1))) {
    return { ok: false, expected: "a look-behind of single characters only" };
  }
  const tree = parseChoice({ tokens, next: 0 });
  return { ok: true, tree, hasConditions: tokens.some((token) => /^(?:\$|\\[bB]|\(\?<?[=!])$/u.test(token)) };
}

interface TokenReader {
  readonly tokens: readonly string[];
  next: number;
}

function parseChoice(reader: TokenReader): PatternNode {
  const parts = [parseSequence(reader)];
  while (reader.tokens[reader.next] === "|") {
    reader.next += 1;
    parts.push(parseSequence(reader));
  }
  return { kind: "choice", parts };
}

function parseSequence(reader: TokenReader): PatternNode {
  const parts: PatternNode[] = [];
  for (;;) {
    const token = reader.tokens[reader.next];
    if (token === undefined || token === "|" || token === ")") return { kind: "sequence", parts };
    reader.next += 1;
    parts.push(parseRepeat(reader, parseAtom(reader, token)));
  }
}

function parseAtom(reader: TokenReader, token: string): PatternNode {
  if (token === "^") return { kind: "start" };
  if (token === "$" || token === String.raw`\b` || token === String.raw`\B`) return { kind: "pass" };
  if (isLookBehind(token)) {
    reader.next = reader.tokens.indexOf(")", reader.next) + 1;
    return { kind: "pass" };
  }
  if (!token.startsWith("(")) return { kind: "character", source: token };
  const part = parseChoice(reader);
  reader.next += 1;
  return token === "(?=" || token === "(?!" ? { kind: "look-ahead", part } : part;
}

function parseRepeat(reader: TokenReader, part: PatternNode): PatternNode {
  const token = reader.tokens[reader.next] ?? "";
  const range = toRange(token);
  if (range === undefined) return part;
  reader.next += 1;
  return { kind: "repeat", part, ...range };
}

function toRange(token: string): { min: number; max: number } | undefined {
  // The mark of a lazy quantifier changes the order of the ways, not their number.
  const quantifier = token.length > 1 ? token.replace(/\?$/u, "") : token;
  if (quantifier === "*") return { min: 0, max: Infinity };
  if (quantifier === "+") return { min: 1, max: Infinity };
  if (quantifier === "?") return { min: 0, max: 1 };
  const [, min, comma, max] = /^\{(\d+)(,?)(\d*)\}$/u.exec(quantifier) ?? [];
  if (min === undefined) return undefined;
  return { min: Number(min), max: comma === "" ? Number(min) : max === "" ? Infinity : Number(max) };
}

function isLookBehind(token: string): boolean {
  return token === "(?<=" || token === "(?<!";
}

/** Tells whether there are only single characters up to the end of the group. */
function isPlainUntilEnd(tokens: readonly string[], from: number): boolean {
  const inside = tokens.slice(from, tokens.indexOf(")", from));
  return inside.every((token) => token !== "|" && !token.startsWith("(") && toRange(token) === undefined);
}
