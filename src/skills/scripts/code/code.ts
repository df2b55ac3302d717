import { findFunctions, type Functions } from "./functions.ts";
import { findConstants, type Constants } from "./literals.ts";
import type { Syntax } from "./syntax.ts";
import type { Token } from "./token.ts";
import { tokenize } from "./tokenize.ts";

/** Source text, ready to be searched. */
export interface Code {
  /** Without comments. */
  readonly tokens: readonly Token[];
  readonly comments: readonly Token[];
  readonly functions: Functions;
  readonly constants: Constants;
}

/** Makes source text ready to be searched. */
export function parseCode(source: string, syntax: Syntax): Code {
  const { tokens, comments } = tokenize(source, syntax);
  return { tokens, comments, functions: findFunctions(tokens), constants: findConstants(tokens) };
}
