import { toStem, toStems } from "../text/stems.ts";
import { synonymsOf } from "../text/synonyms.ts";
import { type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import type { Parameter } from "./parameter.ts";

const negativeWords = /^(?:no|skip|without|exclude|disable|omit)$/u;
const emptyPrefixes = /^(?:include|with|show|is|has|only|enable|use|allow|should|do)$/u;
const denials = /^(?:no|not|without|don't|dont|never|skip|except|exclude|excluding|ignore|omit)$/u;

/** Whether a word of the request says that something is wanted, or not wanted. */
export function booleanCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  if (parameter.type !== "boolean") return [];
  const [first = "", ...others] = parameter.words;
  const isNegative = negativeWords.test(first) && others.length > 0;
  const isPrefixed = emptyPrefixes.test(first) && others.length > 0;
  const wanted = (isNegative || isPrefixed ? others : parameter.words).map((word) => toStem(word)[0] ?? word);
  const { tokens } = place;
  const described = describedCandidates(place, parameter);
  if (described.length > 0) return described;
  return tokens.flatMap((_, at) => {
    const isThere = wanted.every((stem, index) => sameStem(tokens[at + index], stem));
    if (!isThere || meansTool(place, wanted)) return [];
    const isDenied = [1, 2].some((back) => denials.test(wordAt(tokens, at - back)));
    if (isNegative && !isDenied) return [];
    return [{ parameter, value: isNegative || !isDenied, from: at, to: at + wanted.length, score: 60 }];
  });
}

/** What is said in the words of the description: "is it up to date?"; or what it does: "add … to FILE" where it puts something into it. */
function describedCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  const description = parameter.description.toLowerCase();
  const isSaid = (at: number): boolean =>
    description.includes("up to date") &&
    tokens
      .slice(at, at + 3)
      .map(({ word }) => word)
      .join(" ") === "up to date";
  const [verb = ""] = toStems(description.slice(0, 40));
  const first = tokens.find(({ stem }) => stem !== "")?.stem ?? "";
  const isDone = (at: number): boolean =>
    /^(?:to|into)$/u.test(wordAt(tokens, at)) &&
    tokens[at + 1]?.kind === "path" &&
    /\binto\b/u.test(description) &&
    (first === verb || synonymsOf(first).has(verb));
  return tokens.flatMap((_, at) =>
    isSaid(at) || isDone(at) ? [{ parameter, value: true, from: at, to: at + 1, score: 58 }] : [],
  );
}

/** "common words" asks for frequent ones, if that is what the tool finds. */
function meansTool({ ownStems }: FillPlace, wanted: readonly string[]): boolean {
  const [stem = ""] = wanted;
  return wanted.length === 1 && !ownStems.has(stem) && [...synonymsOf(stem)].some((word) => ownStems.has(word));
}

function sameStem(token: Token | undefined, stem: string): boolean {
  if (token?.kind !== "word" || stem === "") return false;
  const own = token.stem === "" ? token.word : token.stem;
  return own === stem || (stem.length >= 6 && own.startsWith(stem));
}
