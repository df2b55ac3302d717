import type { Code } from "../code/code.ts";
import { parametersOf, type FunctionParameter } from "../code/functions.ts";
import { readLiteral, toJson } from "../code/literals.ts";
import { isAnyToken, isToken, type Token } from "../code/token.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { PositionFact } from "./argv-facts.ts";
import type { ListUse } from "./argument-lists.ts";
import type { PositionUse } from "./code-positions.ts";

const integerTypes = new Set(["int", "Integer", "i32", "i64"]);
const numberTypes = new Set(["float", "number", "Float", "double"]);

/**
 * Names positionals by the parameters they are passed to: `main(sys.argv[1], int(sys.argv[2]))` and
 * `main(...process.argv.slice(2))`.
 */
export function namedByCalls(
  code: Code,
  lists: readonly ListUse[],
  uses: readonly PositionUse[],
): readonly PositionUse[] {
  const named = uses.map((use): PositionUse => {
    if (use.fact.name !== undefined) return use;
    const parameter = parameterAt(code, use.index);
    return parameter === undefined
      ? use
      : { ...use, fact: { ...factOf(code, parameter), ...use.fact, name: parameter.name } };
  });
  const docs = documentedParameters(code);
  return [...named, ...lists.flatMap((list) => spreadAt(code, list))].map((use) => {
    const doc = docs.get(use.fact.name ?? "");
    return doc === undefined ? use : { ...use, fact: { ...doc, ...use.fact } };
  });
}

/** The parameter that the expression at `index` is passed to. Conversions around it are stepped over. */
function parameterAt({ tokens, functions }: Code, index: number): FunctionParameter | undefined {
  let at = index;
  for (let level = 0; level < 4; level++) {
    const outer = openingBefore(tokens, at);
    if (outer === undefined) return undefined;
    const called = tokens[outer.open - 1];
    if (called?.kind === "word" && functions.has(called.text))
      return parametersOf(tokens, functions, called.text)[outer.place];
    // `int(` or `Path(` around one argument; anything with more is not a conversion.
    if (outer.place > 0) return undefined;
    at = outer.open;
  }
  return undefined;
}

const closers = new Set([")", "]", "}"]);
const openers = new Set(["(", "[", "{"]);
const statementMarks = new Set([";", "=", "=>"]);

/** The parenthesis around the expression at `index`, and how many arguments stand before it. */
function openingBefore(tokens: readonly Token[], index: number): { open: number; place: number } | undefined {
  let place = 0;
  let depth = 0;
  for (let at = index - 1; at > Math.max(0, index - 80); at--) {
    const token = tokens[at];
    if (isAnyToken(token, closers)) depth += 1;
    else if (isAnyToken(token, openers)) depth -= 1;
    else if (depth === 0 && isToken(token, ",")) place += 1;
    else if (depth === 0 && isAnyToken(token, statementMarks)) return undefined;
    if (depth < 0) return isToken(token, "(") ? { open: at, place } : undefined;
  }
  return undefined;
}

const spreaders = new Set(["...", "*"]);

function spreadAt(code: Code, { index, end, skip }: ListUse): readonly PositionUse[] {
  const { tokens, functions } = code;
  const called = tokens[index - 3];
  const isSpread =
    isAnyToken(tokens[index - 1], spreaders) && isToken(tokens[index - 2], "(") && isToken(tokens[end], ")");
  if (!isSpread || called?.kind !== "word" || !functions.has(called.text)) return [];
  return parametersOf(tokens, functions, called.text).flatMap((parameter, number) => {
    const place = number - skip;
    if (place < 0 || parameter.rest) return [];
    const isOptional = parameter.fallback !== undefined;
    return [{ index, place, fact: { ...factOf(code, parameter), name: parameter.name, required: !isOptional } }];
  });
}

function factOf({ tokens, constants }: Code, { annotation, fallback }: FunctionParameter): PositionFact {
  const type = integerTypes.has(annotation ?? "")
    ? "integer"
    : numberTypes.has(annotation ?? "")
      ? "number"
      : undefined;
  const value = fallback === undefined ? undefined : toJson(readLiteral(tokens, fallback, constants));
  return withoutUndefined<PositionFact>({ type, default: value ?? undefined });
}

const paramTag = /@param\s+\{([^{}\n]{1,60})\}\s+\[?(\w+)[^\s\]]{0,60}\]?[ \t]*-?[ \t]*([^\n]{0,300})/gu;

/** What JSDoc says about parameters, by their names: `@param {number} count - How often`. */
function documentedParameters({ comments }: Code): ReadonlyMap<string, PositionFact> {
  const found = new Map<string, PositionFact>();
  for (const { text } of comments) {
    if (!text.includes("@param")) continue;
    for (const [, type = "", name = "", words = ""] of text.matchAll(paramTag)) {
      const description = words.trim();
      const isNumber = type.trim() === "number";
      if (!found.has(name))
        found.set(name, { ...(isNumber && { type: "number" }), ...(description !== "" && { description }) });
    }
  }
  return found;
}
