import type { JsonValue } from "../../../core/json.ts";
import { readLiteral, toJson } from "../code/literals.ts";
import { findClosing, isAnyToken, isToken, numberOf, type Token } from "../code/token.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { PositionFact } from "./argv-facts.ts";
import { assignedName, type ListUse } from "./argument-lists.ts";
import type { Dialect } from "./dialects.ts";

/** A place where the code reads one argument. */
export interface PositionUse {
  readonly index: number;
  readonly place: number;
  readonly fact: PositionFact;
}

const integerMakers = new Set(["int", "parseInt", "Integer", "intval", "to_i", "as.integer", "strtol"]);
const numberMakers = new Set(["Number", "parseFloat", "float", "Float", "floatval", "to_f", "as.numeric", "tonumber"]);

/** The kind of number that the tokens from `from` to `to` make of something. */
export function numberMade(tokens: readonly Token[], from: number, to: number): "integer" | "number" | undefined {
  for (let index = Math.max(0, from); index < to; index++) {
    if (isAnyToken(tokens[index], integerMakers)) return "integer";
    if (isAnyToken(tokens[index], numberMakers)) return "number";
  }
  return undefined;
}

const otherwise = new Set(["||", "??", "or", "//", "else", ":"]);
const conditional = new Set(["?", "if", "&&", "and", "||", "??", "or", "//", "unless", "===", "!==", "==", "!=", "?."]);

/** The value that is taken when the argument whose closing bracket is at `index` is not given. */
function defaultAfter(tokens: readonly Token[], index: number): JsonValue | undefined {
  const line = tokens[index]?.line;
  for (let at = index + 1; at < index + 24; at++) {
    const token = tokens[at];
    if (token === undefined || token.line !== line || isToken(token, ";")) return undefined;
    if (!isAnyToken(token, otherwise)) continue;
    let end = at + 1;
    while (
      tokens[end]?.line === line &&
      !isToken(tokens[end], ";") &&
      !isToken(tokens[end], ")") &&
      !isToken(tokens[end], ",")
    )
      end += 1;
    const value = toJson(readLiteral(tokens, [at + 1, end]));
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** The default of a number is often written as text: `parseInt(args[1] || "10")`. */
export function asNumber(value: JsonValue | undefined, type: PositionFact["type"]): JsonValue | undefined {
  const isText = type !== undefined && typeof value === "string" && /^-?\d+(?:\.\d+)?$/u.test(value);
  return isText ? Number(value) : value;
}

/** Reads `LIST[n]` after a use of the list; nothing if it is not read by number there. */
export function positionAt(tokens: readonly Token[], use: ListUse, dialect: Dialect): PositionUse | undefined {
  const { index, end, skip } = use;
  const isAt = isToken(tokens[end], ".") && isToken(tokens[end + 1], "at") && isToken(tokens[end + 2], "(");
  const open = isAt ? end + 2 : end;
  if (!isAt && !isToken(tokens[end], "[")) return undefined;
  const number = numberOf(tokens[open + 1]);
  const close = open + 2;
  if (number === undefined || !(isToken(tokens[close], "]") || isToken(tokens[close], ")"))) return undefined;
  const place = number - skip;
  if (place < 0) return undefined;
  const fallback = defaultAfter(tokens, close);
  const isOptional = isAnyToken(tokens[close + 1], conditional) || isInCondition(tokens, index);
  const type = numberMade(tokens, index - 3, index);
  const fact = withoutUndefined<PositionFact>({
    name: assignedName(tokens, index),
    default: asNumber(fallback, type),
    type,
    required: fallback !== undefined || isOptional ? false : dialect.strict ? true : undefined,
  });
  return { index, place, fact };
}

/** `if (args[0]) …`, `args[0] && …`: asking is not needing. */
function isInCondition(tokens: readonly Token[], index: number): boolean {
  return isToken(tokens[index - 1], "!") || (isToken(tokens[index - 1], "(") && isToken(tokens[index - 2], "if"));
}

/** Reads `[a, b = 1, ...rest] = LIST` and `a, b = LIST`. */
export function destructuredAt(
  tokens: readonly Token[],
  use: ListUse,
): { uses: PositionUse[]; rest?: { from: number; name: string } } {
  const equals = use.index - 1;
  if (!isToken(tokens[equals], "=")) return { uses: [] };
  const open = findNames(tokens, equals);
  if (open === undefined) return { uses: [] };
  const uses: PositionUse[] = [];
  let rest: { from: number; name: string } | undefined;
  const close = equals - (isCloser(tokens[equals - 1]) ? 1 : 0);
  for (const [number, [from, to]] of splitNames(tokens, open, close).entries()) {
    const place = number - use.skip;
    const isRest = isToken(tokens[from], "...") || isToken(tokens[from], "*");
    const name = tokens[isRest ? from + 1 : from];
    if (place < 0 || from >= to || name?.kind !== "word") continue;
    if (isRest) rest = { from: place, name: name.text };
    else uses.push({ index: use.index, place, fact: nameFact(tokens, name.text, [from + 1, to]) });
  }
  return { uses, ...(rest !== undefined && { rest }) };
}

/** The entries of a destructuring, also those that are left out: `[, , file]` has three. */
function splitNames(tokens: readonly Token[], open: number, close: number): readonly (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  let from = open + 1;
  for (let index = open + 1; index < close; index++) {
    if (isAnyToken(tokens[index], openers)) index = findClosing(tokens, index);
    if (!isToken(tokens[index], ",")) continue;
    ranges.push([from, index]);
    from = index + 1;
  }
  return from < close ? [...ranges, [from, close]] : ranges;
}

const openers = new Set(["(", "[", "{"]);

function nameFact(tokens: readonly Token[], name: string, [from, to]: readonly [number, number]): PositionFact {
  const value = isToken(tokens[from], "=") ? toJson(readLiteral(tokens, [from + 1, to])) : undefined;
  return withoutUndefined<PositionFact>({ name, default: value ?? undefined, required: from < to ? false : undefined });
}

function isCloser(token: Token | undefined): boolean {
  return isToken(token, "]") || isToken(token, ")");
}

/** The token before the first name of a destructuring that ends at `equals`. */
function findNames(tokens: readonly Token[], equals: number): number | undefined {
  return isCloser(tokens[equals - 1]) ? findOpener(tokens, equals - 1) : findBareNames(tokens, equals);
}

function findOpener(tokens: readonly Token[], close: number): number | undefined {
  for (let index = close - 1; index > Math.max(0, close - 60); index--) {
    const isOpen = isToken(tokens[index], "[") || isToken(tokens[index], "(");
    if (isOpen && findClosing(tokens, index) === close) return index;
  }
  return undefined;
}

const listMarks = new Set([",", "*"]);

/** `a, b = …`: nothing but names and commas, from the start of the line on. */
function findBareNames(tokens: readonly Token[], equals: number): number | undefined {
  const line = tokens[equals]?.line;
  const isName = (token: Token | undefined): boolean => token?.kind === "word" || isAnyToken(token, listMarks);
  let first = equals;
  while (tokens[first - 1]?.line === line && isName(tokens[first - 1])) first -= 1;
  const isWholeLine = tokens[first - 1]?.line !== line;
  const hasComma = tokens.slice(first, equals).some((token) => isToken(token, ","));
  return isWholeLine && hasComma ? first - 1 : undefined;
}
