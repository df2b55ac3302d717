import { isDeepStrictEqual } from "node:util";

import { KitbagError, quote } from "../../core/errors.ts";
import { showValue, type JsonValue } from "../../core/json.ts";
import { followReference, parseReference, type Reference, type Scope } from "./template.ts";

/** How two values can be compared. */
export type Comparison = "==" | "!=" | "<" | ">" | "<=" | ">=";

/** One side of a comparison. */
export type Operand =
  | { readonly kind: "literal"; readonly value: JsonValue }
  | { readonly kind: "reference"; readonly reference: Reference };

/** What a step's `if` says, taken apart. */
export type Condition =
  | Operand
  | { readonly kind: "compare"; readonly comparison: Comparison; readonly left: Operand; readonly right: Operand }
  | { readonly kind: "and" | "or"; readonly left: Condition; readonly right: Condition }
  | { readonly kind: "not"; readonly condition: Condition };

/** Beyond these a condition is an attack or a mistake. */
const longest = 2000;
const deepest = 32;

/**
 * Reads a condition: `$input.force`, `$a.count > 3 and not ($b.status == "done" or $c)`. `or` binds weakest, then `and`, then
 * `not`.
 *
 * @throws {KitbagError} `pipeline-invalid` if it cannot be read; the problem's path is empty.
 */
export function parseCondition(text: string): Condition {
  if (text.length > longest) throw refuse(`at most ${longest} characters`, String(text.length));
  const parser = new ConditionParser(toTokens(text));
  const condition = parser.parseOr(0);
  parser.expectEnd();
  return condition;
}

type Token =
  | { readonly kind: "operand"; readonly operand: Operand; readonly text: string }
  | { readonly kind: "sign"; readonly text: string }
  | { readonly kind: "end"; readonly text: string };

const literals: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const signs = /\s*(==|!=|<=|>=|<|>|\(|\)|(?:and|or|not)(?![\w-]))/y;
const number = /\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;
const quoted = /\s*("(?:[^"\\]|\\.)*"|'[^']*')/y;
const word = /\s*([A-Za-z_][\w-]*)/y;
const dollar = /\s*\$(\{)?/y;

function toTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (text.slice(position).trim() !== "") {
    const [token, end] = nextToken(text, position);
    tokens.push(token);
    position = end;
  }
  return [...tokens, { kind: "end", text: "nothing" }];
}

function nextToken(text: string, position: number): [token: Token, end: number] {
  const match = (pattern: RegExp): readonly [text: string, end: number] | undefined => {
    pattern.lastIndex = position;
    const found = pattern.exec(text);
    return found === null ? undefined : [found[1] ?? "", pattern.lastIndex];
  };
  const sign = match(signs);
  if (sign !== undefined) return [{ kind: "sign", text: sign[0] }, sign[1]];
  const digits = match(number);
  if (digits !== undefined) return literalToken(Number(digits[0]), digits);
  const string = match(quoted);
  if (string !== undefined) return literalToken(unquote(string[0]), string);
  const start = match(dollar);
  if (start !== undefined) return referenceToken(text, start);
  const letters = match(word);
  const value = literals.get(letters?.[0] ?? "");
  if (letters !== undefined && value !== undefined) return literalToken(value, letters);
  throw refuse(operandRule, quote(letters?.[0] ?? text.slice(position).trim()), cureFor(text, position, letters?.[0]));
}

function literalToken(value: JsonValue, [text, end]: readonly [string, number]): [Token, number] {
  if (typeof value === "number" && !Number.isFinite(value)) throw refuse("a finite number", quote(text));
  return [{ kind: "operand", operand: { kind: "literal", value }, text }, end];
}

function referenceToken(text: string, [brace, start]: readonly [string, number]): [Token, number] {
  const found = parseReference(text, start);
  if (found === undefined || (brace !== "" && text[found.end] !== "}")) {
    throw refuse("a reference such as $input.name", quote(text.slice(start - 1 - brace.length)));
  }
  const { reference, end } = found;
  const operand: Operand = { kind: "reference", reference };
  return [{ kind: "operand", operand, text: reference.text }, end + brace.length];
}

function unquote(text: string): string {
  if (text.startsWith("'")) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch {
    throw refuse("a text in quotes as JSON writes it", quote(text));
  }
}

const operandRule = "a reference ($input.name), a number, a text in quotes, true, false or null";
const otherSigns: ReadonlyMap<string, string> = new Map([
  ["&&", "and"],
  ["||", "or"],
  ["!", "not"],
  ["=", "=="],
]);

/** What the author may have meant who knows another language. */
function cureFor(text: string, position: number, letters: string | undefined): string | undefined {
  if (letters !== undefined) return JSON.stringify(letters);
  const [sign = ""] = /&&|\|\||!|=/u.exec(text.slice(position)) ?? [];
  return otherSigns.get(sign);
}

class ConditionParser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parseOr(depth: number): Condition {
    if (depth > deepest) throw refuse(`at most ${deepest} conditions inside each other`, "more");
    let left = this.#parseAnd(depth);
    while (this.#take("or")) left = { kind: "or", left, right: this.#parseAnd(depth) };
    return left;
  }

  expectEnd(): void {
    const { kind, text } = this.#next();
    if (kind !== "end") throw refuse('"and", "or", a comparison or the end', quote(text));
  }

  #parseAnd(depth: number): Condition {
    let left = this.#parseNot(depth);
    while (this.#take("and")) left = { kind: "and", left, right: this.#parseNot(depth) };
    return left;
  }

  #parseNot(depth: number): Condition {
    let isNegated = false;
    while (this.#take("not")) isNegated = !isNegated;
    const condition = this.#parseComparison(depth);
    return isNegated ? { kind: "not", condition } : condition;
  }

  #parseComparison(depth: number): Condition {
    if (this.#take("(")) {
      const inner = this.parseOr(depth + 1);
      if (!this.#take(")")) throw refuse('")"', quote(this.#next().text));
      return inner;
    }
    const left = this.#parseOperand();
    const comparison = this.#takeComparison();
    return comparison === undefined ? left : { kind: "compare", comparison, left, right: this.#parseOperand() };
  }

  #parseOperand(): Operand {
    const token = this.#next();
    if (token.kind !== "operand") throw refuse(operandRule, token.kind === "end" ? token.text : quote(token.text));
    this.#position += 1;
    return token.operand;
  }

  #takeComparison(): Comparison | undefined {
    const comparisons: readonly Comparison[] = ["==", "!=", "<", ">", "<=", ">="];
    return comparisons.find((comparison) => this.#take(comparison));
  }

  #take(sign: string): boolean {
    const token = this.#next();
    if (token.kind !== "sign" || token.text !== sign) return false;
    this.#position += 1;
    return true;
  }

  #next(): Token {
    return this.#tokens[this.#position] ?? { kind: "end", text: "nothing" };
  }
}

function refuse(expected: string, found: string, didYouMean?: string): KitbagError {
  const problem = { path: "", expected, found, ...(didYouMean !== undefined && { didYouMean }) };
  return new KitbagError("pipeline-invalid", { pipeline: "condition", problems: [problem] });
}

/** Every reference in a condition. */
export function* conditionReferences(condition: Condition): Generator<Reference> {
  switch (condition.kind) {
    case "literal":
      return;
    case "reference":
      yield condition.reference;
      return;
    case "not":
      yield* conditionReferences(condition.condition);
      return;
    case "and":
    case "or":
    case "compare":
      yield* conditionReferences(condition.left);
      yield* conditionReferences(condition.right);
  }
}

/**
 * Tells whether a condition holds. Nothing, `null`, `false`, `0`, the empty text, the empty list and the empty object count as
 * false; everything else as true. Equal are values that are the same JSON: `1` is not `"1"`.
 *
 * @throws {TypeError} if it is asked which is greater of anything but two numbers or two texts.
 */
export function isTrue(condition: Condition, scope: Scope): boolean {
  switch (condition.kind) {
    case "literal":
    case "reference":
      return isTruthy(getValue(condition, scope));
    case "not":
      return !isTrue(condition.condition, scope);
    case "and":
      return isTrue(condition.left, scope) && isTrue(condition.right, scope);
    case "or":
      return isTrue(condition.left, scope) || isTrue(condition.right, scope);
    case "compare":
      return compare(condition.comparison, getValue(condition.left, scope), getValue(condition.right, scope));
  }
}

function getValue(operand: Operand, scope: Scope): JsonValue {
  return (operand.kind === "literal" ? operand.value : followReference(operand.reference, scope)) ?? null;
}

function isTruthy(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  return Object.keys(value).length > 0;
}

function compare(comparison: Comparison, left: JsonValue, right: JsonValue): boolean {
  switch (comparison) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "<":
      return order(left, right) < 0;
    case ">":
      return order(left, right) > 0;
    case "<=":
      return order(left, right) <= 0;
    case ">=":
      return order(left, right) >= 0;
  }
}

function isEqual(left: JsonValue, right: JsonValue): boolean {
  // For JSON 0 and -0 are one number.
  return left === right || isDeepStrictEqual(left, right);
}

function order(left: JsonValue, right: JsonValue): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : Number(left > right);
  throw new TypeError(`cannot tell which is greater, ${showValue(left)} or ${showValue(right)}`);
}
