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

/** Names of what stands before and behind the slash of `acme/webshop`. */
const owners = /^(?:owner|org|organization|organisation|namespace|user|username)$/u;
const owned = /^(?:repo|repository|project)$/u;

/** "acme/webshop": one piece for two parameters. */
export function slashCandidates({ tokens, parameters }: FillPlace, parameter: Parameter): Candidate[] {
  const texts = parameters.filter(({ type }) => type === "string");
  const owner = texts.find(({ words }) => owners.test(words[0] ?? ""));
  const repo = texts.find(({ words }) => owned.test(words[0] ?? ""));
  if (owner === undefined || repo === undefined || (parameter !== owner && parameter !== repo)) return [];
  return tokens.flatMap((token, at) => {
    const [first = "", second = "", ...rest] = token.kind === "path" ? token.text.split("/") : [];
    if (first === "" || second === "" || rest.length > 0) return [];
    // The first takes the piece, and the other one has its part.
    const isOwner = parameter === owner;
    return [{ parameter, value: isOwner ? first : second, from: at, to: isOwner ? at + 1 : at, score: 81 }];
  });
}

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
