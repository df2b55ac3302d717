import { findClosing, findToken, isAnyToken, isToken, splitArguments, type Token } from "./token.ts";

/** The functions of a script: by name, the index of the parenthesis that opens the parameters. */
export type Functions = ReadonlyMap<string, number>;

const definers = new Set(["function", "def", "sub"]);
const declarers = new Set(["const", "let", "var"]);

/** Finds the functions that a script defines, also those that are values of constants. */
export function findFunctions(tokens: readonly Token[]): Functions {
  const functions = new Map<string, number>();
  for (let index = 1; index < tokens.length; index++) {
    const token = tokens[index];
    if (token?.kind !== "word" || functions.has(token.text)) continue;
    const open = parametersAt(tokens, index);
    if (open !== undefined) functions.set(token.text, open);
  }
  return functions;
}

function parametersAt(tokens: readonly Token[], index: number): number | undefined {
  if (isAnyToken(tokens[index - 1], definers)) return isToken(tokens[index + 1], "(") ? index + 1 : undefined;
  if (!isAnyToken(tokens[index - 1], declarers)) return undefined;
  // `const name = async (…) =>`, `const name = function (…)`
  for (let at = index + 1; at < index + 5; at++) {
    if (isToken(tokens[at], "(")) return isArrow(tokens, at) || isToken(tokens[at - 1], "function") ? at : undefined;
  }
  return undefined;
}

function isArrow(tokens: readonly Token[], open: number): boolean {
  // A return type may stand between the parameters and the arrow.
  const close = findClosing(tokens, open);
  return tokens.slice(close + 1, close + 8).some((token) => isToken(token, "=>"));
}

/** A parameter of a function. */
export interface FunctionParameter {
  readonly name: string;
  /** The first word of its type. */
  readonly annotation?: string;
  /** The tokens of its default. */
  readonly fallback?: readonly [number, number];
  /** It takes all further arguments. */
  readonly rest: boolean;
}

const restMarks = new Set(["...", "*"]);

/** The parameters of a function; none if it is not known. */
export function parametersOf(
  tokens: readonly Token[],
  functions: Functions,
  name: string,
): readonly FunctionParameter[] {
  const open = functions.get(name);
  if (open === undefined) return [];
  return splitArguments(tokens, open, findClosing(tokens, open)).flatMap(([from, to]) => {
    const rest = isAnyToken(tokens[from], restMarks);
    const token = tokens[rest ? from + 1 : from];
    if (token?.kind !== "word") return [];
    const colon = findToken(tokens, [from, to], ":");
    const equals = findToken(tokens, [from, to], "=");
    return [
      {
        name: token.text,
        rest,
        ...(colon !== -1 && { annotation: tokens[colon + 1]?.text ?? "" }),
        ...(equals !== -1 && { fallback: [equals + 1, to] as const }),
      },
    ];
  });
}

/** The tokens of a function's body, as first index and index after the last. A body is at most 400 tokens long: helpers are short. */
export function bodyOf(
  tokens: readonly Token[],
  functions: Functions,
  name: string,
): readonly [number, number] | undefined {
  const open = functions.get(name);
  if (open === undefined) return undefined;
  const start = findClosing(tokens, open) + 1;
  const longest = Math.min(tokens.length, start + 400);
  const brace = tokens.slice(start, start + 8).findIndex((token) => isToken(token, "{"));
  if (brace !== -1) return [start, Math.min(findClosing(tokens, start + brace) + 1, longest)];
  // A language without braces: up to the next function.
  for (let at = start; at < longest; at++) if (isAnyToken(tokens[at], definers)) return [start, at];
  return [start, longest];
}
