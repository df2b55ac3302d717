import { toStem } from "../text/stems.ts";
import { type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { fitNumber } from "./convert-token.ts";
import { convertUnit, hasUnit } from "./convert-unit.ts";
import type { Parameter } from "./parameter.ts";
import { readValue } from "./read-value.ts";
import { rolesOf } from "./roles.ts";
import { endsOf } from "./span-candidates.ts";
import { currencyCodeOf, isUnitName } from "./unit-names.ts";

/** "10 entries", "the 5 most frequent words", "30 seconds", "15%": what is counted says which parameter is meant. */
export function numberCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  const ordinals = ordinalCandidates(place, parameter);
  if (!isNumeric(parameter)) return ordinals;
  const counted = place.tokens.flatMap((token, at) => {
    const found =
      token.kind === "number" && token.text.toLowerCase() !== "one" ? readValue(place, parameter, at) : undefined;
    if (found === undefined) return [];
    const score =
      found.to > at + 1 || found.value !== token.value
        ? 66
        : Math.max(scoreBound(place, parameter, at), scoreNumber(place, parameter, token, at));
    return score > 0 ? [{ parameter, value: found.value, from: at, to: found.to, score }] : [];
  });
  return [
    ...ordinals,
    ...counted,
    ...periodCandidates(place, parameter),
    ...wordCandidates(place, parameter),
    ...timesCandidates(place, parameter),
  ];
}

/** "close it", where the description says that 0 is closed. */
function wordCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  const said = [...parameter.description.matchAll(/(-?\d+(?:\.\d+)?) (?:is|=|means|for) (\p{L}{3,})/giu)];
  return said.slice(0, 8).flatMap(([, digits = "", word = ""]) => {
    const [stem = ""] = toStem(word.toLowerCase());
    const at = tokens.findIndex(
      (token) => token.kind === "word" && (token.stem || (toStem(token.word)[0] ?? "")) === stem,
    );
    const value = at === -1 ? undefined : fitNumber(parameter, Number(digits));
    return value === undefined || tokens.some(({ kind }) => kind === "number")
      ? []
      : [{ parameter, value, from: at, to: at + 1, score: 55 }];
  });
}

/** "in 30 days" is a day, but also 30 for what counts in days. */
function periodCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  return tokens.flatMap((token, at) => {
    const [, amount = "", unit = ""] = /^in (\d{1,4}) (\p{L}+)$/iu.exec(token.kind === "date" ? token.text : "") ?? [];
    const converted = amount === "" ? undefined : convertUnit(parameter, Number(amount), unit);
    const value = converted === undefined ? undefined : fitNumber(parameter, converted);
    return value === undefined ? [] : [{ parameter, value, from: at, to: at + 1, score: 48 }];
  });
}

const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

/** "the second one", "the 3rd task", where the number of something is wanted. */
function ordinalCandidates({ tokens, toolStems }: FillPlace, parameter: Parameter): Candidate[] {
  const isNumber = /^(?:id|number|index|position|no|nr)$/u.test(parameter.words.at(-1) ?? "");
  if (!parameter.isRequired || !isNumber) return [];
  return tokens.flatMap(({ word }, at) => {
    const number = Number(/^(\d{1,4})(?:st|nd|rd|th)$/u.exec(word)?.[1] ?? ordinals.indexOf(word) + 1);
    const next = tokens[at + 1];
    const isCounted = next !== undefined && (next.word === "one" || (next.stem !== "" && toolStems.has(next.stem)));
    const value = number > 0 && isCounted ? (isNumeric(parameter) ? number : String(number)) : undefined;
    return value === undefined ? [] : [{ parameter, value, from: at, to: at + 2, score: 50 }];
  });
}

function isNumeric({ type }: Parameter): boolean {
  return type === "number" || type === "integer";
}

function scoreNumber(place: FillPlace, parameter: Parameter, { text }: Token, at: number): number {
  const isPercent = /%|percent/iu.test(text) && /percent|%/iu.test(`${parameter.name} ${parameter.description}`);
  if (isPercent) return 64;
  if (isSum(parameter) && currencyCodeOf(wordAt(place.tokens, at + 1)) !== undefined) return 50;
  if (isSameEnd(parameter, wordAt(place.tokens, at - 1))) return 61;
  const following = place.tokens.slice(at + 1, at + 5);
  const end = following.findIndex(
    ({ kind, word }) => kind !== "word" || /^(?:and|of|in|from|to|with|for|by)$/u.test(word),
  );
  const words = end === -1 ? following : following.slice(0, end);
  const scores = words.map((word, distance) => scoreCounted(place, parameter, word, distance));
  return Math.max(0, ...scores) - (hasUnit(parameter) ? 20 : 0);
}

/** "the last 20 lines", where one parameter counts from the beginning and another one from the end. */
function isSameEnd({ words, description }: Parameter, word: string): boolean {
  const said = `${words.join(" ")} ${description.slice(0, 200)}`;
  if (word === "first") return /\b(?:first|head)\b/iu.test(said) && !/\b(?:last|tail)\b/iu.test(said);
  return word === "last" && /\b(?:last|tail)\b/iu.test(said) && !/\b(?:first|head)\b/iu.test(said);
}

/** "down to level 4", "at most 4 levels", "at least 2": which end is meant. */
function scoreBound(place: FillPlace, parameter: Parameter, at: number): number {
  const { tokens } = place;
  const { words, stems } = parameter;
  const isMost = mostNames.test(words[0] ?? "");
  if (!isMost && !leastNames.test(words[0] ?? "")) return 0;
  const noun = stems.at(-1) ?? "";
  if (isEndOf(tokens, noun, isMost ? at - 2 : at)) return 81;
  const start = tokens[at - 1]?.stem === noun ? at - 1 : at;
  const led = [start - 2, start - 1].map((place) => wordAt(tokens, place)).join(" ");
  if (!(isMost ? upTo : atLeast).test(led)) return 0;
  const isNear = [at - 1, at + 1].some((place) => noun !== "" && tokens[place]?.stem === noun);
  return isNear || words.length === 1 ? 63 : scoreBareBound(place, parameter, at);
}

const mostNames = /^(?:max(?:imum)?|high(?:est)?|upper)$/u;
const leastNames = /^(?:min(?:imum)?|low(?:est)?|lower)$/u;

/** "under 50": one of the only two ends there are, unless it counts something else. */
function scoreBareBound({ tokens, parameters }: FillPlace, parameter: Parameter, at: number): number {
  const next = tokens[at + 1];
  const isBare = next === undefined || next.stem === "" || isUnitName(next.word);
  const bounds = parameters.filter(({ words }) => mostNames.test(words[0] ?? "") || leastNames.test(words[0] ?? ""));
  return isBare && (endsOf(parameters).includes(parameter) || bounds.length === 1) ? 46 : 0;
}

/** "levels 2 to 4": two numbers from a place on. */
function isEndOf(tokens: readonly Token[], noun: string, low: number): boolean {
  const isPair = [low, low + 2].every((place) => tokens[place]?.kind === "number");
  const isJoined = /^(?:to|and)$/u.test(wordAt(tokens, low + 1));
  return isPair && isJoined && [low - 1, low + 3].some((place) => tokens[place]?.stem === noun);
}

const upTo = /^(?:(?:up|down) to|at most|(?:than|more|less) than|.* until|.* below|.* under)$/u;
const atLeast = /^(?:at least|starting (?:at|from)|.* above|.* over)$/u;

function scoreCounted(place: FillPlace, parameter: Parameter, { word, stem }: Token, distance: number): number {
  const isLimit = rolesOf(parameter).has("limit");
  if (isLimit && isListed(word, distance)) return 46 - distance;
  if (distance === 0 && countedIn(parameter, word)) return 60;
  if (stem === "") return 0;
  if (distance === 0 && isQuantity(parameter) && !isUnitName(word)) return 44;
  if (parameter.stems.includes(stem)) return 62 - distance;
  return scoreDescribed(place, parameter, stem, distance);
}

/** "10 files", where the description or the tool speaks of files. */
function scoreDescribed(place: FillPlace, parameter: Parameter, stem: string, distance: number): number {
  const isLimit = rolesOf(parameter).has("limit");
  if (parameter.descriptionStems.has(stem) && !isShared(place, parameter, stem)) return (isLimit ? 52 : 44) - distance;
  return isLimit && place.toolStems.has(stem) ? 42 - distance / 2 : 0;
}

/** "5 results", "the 10 biggest files": as many as there are of something. */
function isListed(word: string, distance: number): boolean {
  if (/^(?:results?|items?|entries|rows|lines|most)$/u.test(word)) return true;
  return distance === 0 && /^(?:best|worst|least|first|last|\p{L}{3,}est)$/u.test(word);
}

/** "20 euros": what is paid, whether it may be left out or not. */
function isSum({ words }: Parameter): boolean {
  return /^(?:amount|price|sum|total|budget)$/u.test(words.at(-1) ?? "");
}

/** "2 hoodies": as many as there are to be of something. */
function isQuantity({ words }: Parameter): boolean {
  return /^(?:quantity|qty|copies|pieces)$/u.test(words.at(-1) ?? "");
}

const timesWords = ["once", "twice", "thrice"];

/** "twice" for what counts how often. */
function timesCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  return tokens.flatMap(({ word }, at) => {
    const value = countedIn(parameter, "times") ? fitNumber(parameter, timesWords.indexOf(word) + 1) : undefined;
    return value === undefined || value === 0 ? [] : [{ parameter, value, from: at, to: at + 1, score: 60 }];
  });
}

/** "10 times" is a count, "24 characters" and "24 long" are a length. */
function countedIn({ words }: Parameter, word: string): boolean {
  const last = words.at(-1) ?? "";
  if (/^(?:copies|count|times|repeat|repeats|repetitions|retries|attempts|tries)$/u.test(last))
    return word === "times" || word === "tries";
  return last === "length" && /^(?:characters?|chars?|letters?|digits?|long)$/u.test(word);
}

/** "pixels" in the description of both width and height tells nothing. */
function isShared({ parameters }: FillPlace, parameter: Parameter, stem: string): boolean {
  return parameters.some((other) => other !== parameter && isNumeric(other) && other.descriptionStems.has(stem));
}
