import type { Request } from "../text/read-request.ts";
import { textAt, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { fitNumber } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";

/** Names of two sides. A width is said before a height; of rows and columns the order of the schema decides. */
const sides = [
  ["width", "height"],
  ["w", "h"],
  ["x", "y"],
  ["columns", "rows"],
  ["cols", "rows"],
  ["columns", "lines"],
] as const;

/** "800x600", "3 x 8", "4 by 10": two numbers for two parameters that are the sides of something, whether they may be left out or not. */
export function pairCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  const pair = sidesOf(place.parameters);
  const side = pair.indexOf(parameter);
  if (side === -1) return [];
  return place.tokens.flatMap((token, at) => {
    const second = secondOf(place.request, at);
    if (second === undefined) return [];
    const where = side === 0 ? at : second;
    const number = place.tokens[where]?.value;
    const value = typeof number === "number" ? fitNumber(parameter, number) : undefined;
    return value === undefined || token.kind !== "number"
      ? []
      : [{ parameter, value, from: where, to: where + 1, cueFrom: at, cueTo: second + 1, score: 67 }];
  });
}

function sidesOf(parameters: readonly Parameter[]): readonly Parameter[] {
  const numbers = parameters.filter(({ type }) => type === "integer" || type === "number");
  for (const [first, last] of sides) {
    const pair = [first, last].flatMap((side) => numbers.find(({ words }) => words.includes(side)) ?? []);
    if (pair.length === 2) return last === "rows" ? numbers.filter((parameter) => pair.includes(parameter)) : pair;
  }
  const required = numbers.filter(({ isRequired }) => isRequired);
  return required.length === 2 ? required : [];
}

/** Where the second number is; `undefined` if there is none. */
function secondOf({ text, tokens }: Request, at: number): number | undefined {
  const token = tokens[at];
  if (token?.kind !== "number") return undefined;
  const next = tokens[at + 1];
  if (next?.kind === "number" && /^[x×]$/iu.test(text.slice(token.end, next.start))) return at + 1;
  const isJoined = /^(?:x|by)$/u.test(wordAt(tokens, at + 1)) || textAt(tokens, at + 1) === "×";
  return isJoined && tokens[at + 2]?.kind === "number" ? at + 2 : undefined;
}
