import type { Code } from "./code.ts";
import { readLiteral, type Literal } from "./literals.ts";
import { findClosing, isToken, splitArguments } from "./token.ts";

/** A call in source text. */
export interface Call {
  /** Of the name. */
  readonly index: number;
  readonly open: number;
  readonly close: number;
  readonly ranges: readonly (readonly [number, number])[];
}

/** Finds the calls of the function or method `name`. */
export function findCalls(code: Code, name: string): readonly Call[] {
  const calls: Call[] = [];
  for (const [index, token] of code.tokens.entries()) {
    if (!isToken(token, name)) continue;
    const call = callAt(code, index);
    if (call !== undefined && !isToken(code.tokens[index - 1], "function")) calls.push(call);
  }
  return calls;
}

/** The call whose name is at `index`; nothing if there is none. Types in angle brackets may stand before the parenthesis. */
export function callAt({ tokens }: Code, index: number): Call | undefined {
  let open = index + 1;
  if (isToken(tokens[open], "<")) {
    const limit = open + 12;
    while (open < limit && !isToken(tokens[open], "(")) open += 1;
  }
  if (!isToken(tokens[open], "(")) return undefined;
  const close = findClosing(tokens, open);
  return { index, open, close, ranges: splitArguments(tokens, open, close) };
}

/** The arguments of a call, as far as they can be read. */
export function argumentsOf(code: Code, call: Call): readonly Literal[] {
  return call.ranges.map((range) => readLiteral(code.tokens, range, code.constants));
}
