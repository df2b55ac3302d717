import type { JsonValue } from "../../../core/json.ts";
import type { Request } from "../text/read-request.ts";
import type { Token } from "../text/token.ts";
import type { Parameter } from "./parameter.ts";

/** A value that a parameter may have, and what in the request says so. */
export interface Candidate {
  readonly parameter: Parameter;
  readonly value: JsonValue;
  /** The tokens that are the value: no other parameter has them too. */
  readonly from: number;
  readonly to: number;
  /** Where the words begin that lead to the value; they are no part of a free text. */
  readonly cueFrom?: number;
  readonly cueTo?: number;
  readonly score: number;
}

/** What is known while a tool's parameters are filled. */
export interface FillPlace {
  readonly request: Request;
  readonly tokens: readonly Token[];
  readonly parameters: readonly Parameter[];
  /** The stems of the tool's name and description. */
  readonly ownStems: ReadonlySet<string>;
  /** These, and what people say instead of them: such a word says which tool, not which value. */
  readonly toolStems: ReadonlySet<string>;
}

/** A parameter that may be left out is not guessed: something must say that it is meant. */
export const optionalBar = 40;
