import { isEmptyWord } from "../text/stems.ts";
import { isValueToken, type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { convertToken } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";

/** Names of two things that are held against each other. */
const ends = [
  ["base", "head"],
  ["from", "to"],
  ["source", "target"],
  ["old", "new"],
  ["left", "right"],
  ["first", "second"],
  ["before", "after"],
  ["a", "b"],
] as const;

/** "between main and develop", "diff main and develop": two names for two parameters that must both be there. */
export function endCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  const pair = pairOf(place.parameters);
  const end = pair.indexOf(parameter);
  if (end === -1) return [];
  const { tokens, toolStems } = place;
  return tokens.flatMap((cue, at) => {
    const isCue = cue.word === "between" || (at === 0 && toolStems.has(cue.stem || "-"));
    const first = tokens[at + 1];
    const second = tokens[at + 3];
    if (!isCue || !isName(first) || !isName(second)) return [];
    if (!/^(?:and|with|to|against)$/u.test(wordAt(tokens, at + 2))) return [];
    const from = end === 0 ? at + 1 : at + 3;
    const value = convertToken(parameter, tokens[from] as Token);
    return value === undefined ? [] : [{ parameter, value, from, to: from + 1, cueFrom: at, cueTo: at + 4, score: 57 }];
  });
}

function pairOf(parameters: readonly Parameter[]): readonly Parameter[] {
  const texts = parameters.filter(
    ({ type, isRequired, choices }) => type === "string" && isRequired && choices.length === 0,
  );
  for (const [left, right] of ends) {
    const pair = [left, right].flatMap((name) => texts.find(({ words }) => words.includes(name)) ?? []);
    if (pair.length === 2) return pair;
  }
  return [];
}

function isName(token: Token | undefined): token is Token {
  return token !== undefined && (isValueToken(token) || (token.kind === "word" && !isEmptyWord(token.word)));
}
