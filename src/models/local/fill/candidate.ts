import type { JsonValue } from "../../../core/json.ts";
import type { Request } from "../text/read-request.ts";
import type { Token } from "../text/token.ts";
import type { Parameter } from "./parameter.ts";
import type { ToolWords } from "./tool-words.ts";

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
export interface FillPlace extends ToolWords {
  readonly request: Request;
  readonly tokens: readonly Token[];
  readonly parameters: readonly Parameter[];
}

/** A parameter that may be left out is not guessed: something must say that it is meant. */
export const optionalBar = 40;
