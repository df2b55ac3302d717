import type { Token } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { hasUnit } from "./convert-unit.ts";
import type { Parameter } from "./parameter.ts";
import { readValue } from "./read-value.ts";
import { rolesOf } from "./roles.ts";

/** "10 entries", "the 5 most frequent words", "30 seconds", "15%": what is counted says which parameter is meant. */
export function numberCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  if (!isNumeric(parameter)) return [];
  return place.tokens.flatMap((token, at) => {
    const found =
      token.kind === "number" && token.text.toLowerCase() !== "one" ? readValue(place, parameter, at) : undefined;
    if (found === undefined) return [];
    const score = found.to > at + 1 ? 66 : scoreNumber(place, parameter, token, at);
    return score > 0 ? [{ parameter, value: found.value, from: at, to: found.to, score }] : [];
  });
}

function isNumeric({ type }: Parameter): boolean {
  return type === "number" || type === "integer";
}

function scoreNumber(place: FillPlace, parameter: Parameter, { text }: Token, at: number): number {
  const isPercent = /%|percent/iu.test(text) && /percent|%/iu.test(`${parameter.name} ${parameter.description}`);
  if (isPercent) return 64;
  const following = place.tokens.slice(at + 1, at + 5);
  const end = following.findIndex(
    ({ kind, word }) => kind !== "word" || /^(?:and|of|in|from|to|with|for|by)$/u.test(word),
  );
  const words = end === -1 ? following : following.slice(0, end);
  const scores = words.map((word, distance) => scoreCounted(place, parameter, word, distance));
  return Math.max(0, ...scores) - (hasUnit(parameter) ? 20 : 0);
}

function scoreCounted(place: FillPlace, parameter: Parameter, { word, stem }: Token, distance: number): number {
  const isLimit = rolesOf(parameter).has("limit");
  if (isLimit && /^(?:results?|items?|entries|rows|lines|most)$/u.test(word)) return 46 - distance;
  if (stem === "") return 0;
  if (parameter.stems.includes(stem)) return 62 - distance;
  if (parameter.descriptionStems.has(stem) && !isShared(place, parameter, stem)) return (isLimit ? 52 : 44) - distance;
  return isLimit && place.toolStems.has(stem) ? 42 - distance / 2 : 0;
}

/** "pixels" in the description of both width and height tells nothing. */
function isShared({ parameters }: FillPlace, parameter: Parameter, stem: string): boolean {
  return parameters.some((other) => other !== parameter && isNumeric(other) && other.descriptionStems.has(stem));
}
