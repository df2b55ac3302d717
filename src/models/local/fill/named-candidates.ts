import { isEmptyWord, toStems } from "../text/stems.ts";
import { textAt, type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { convertToken } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";
import { readValue } from "./read-value.ts";
import { rolesOf, sampleKinds } from "./roles.ts";
import { isUnitName } from "./unit-names.ts";

/** Values that are names, by how they are written and by what stands next to them. */
export function namedCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  if (parameter.type !== "string" || parameter.choices.length > 0) return [];
  return [
    ...unitCandidates(place, parameter),
    ...properNames(place, parameter),
    ...nameParts(place, parameter),
    ...firstOnes(place, parameter),
    ...place.tokens.flatMap((_, at) => wordBefore(place, parameter, at)),
    ...place.tokens.flatMap((_, at) => likeSample(place, parameter, at)),
  ];
}

/** What has the name of a person. */
const people =
  /\b(?:contacts?|persons?|people|customers?|users?|employees?|guests?|patients?|members?|students?|players?|clients?|colleagues?)\b/iu;

/** A name in the middle of a sentence: "what did Grace commit". */
function properNames(place: FillPlace, parameter: Parameter): Candidate[] {
  const { tokens, toolStems } = place;
  const roles = rolesOf(parameter);
  const isNamed =
    (roles.has("name") && people.test(`${place.about} ${parameter.description}`)) ||
    /^(?:full |the )?name of\b/iu.test(parameter.description);
  if (!roles.has("person") && !roles.has("place") && !isNamed) return [];
  return tokens.flatMap((token, at) => {
    const isName = token.kind === "word" && /^\p{Lu}\p{Ll}/u.test(token.text) && !toolStems.has(token.stem);
    const isInside = at > 0 && !/^[.!?:]$/u.test(textAt(tokens, at - 1));
    const found = isName && isInside ? readValue(place, parameter, at) : undefined;
    return found === undefined ? [] : [{ parameter, value: found.value, from: at, to: found.to, score: 42 }];
  });
}

/** "Tom Baker" is a first name and a last name. */
function nameParts({ tokens, toolStems }: FillPlace, parameter: Parameter): Candidate[] {
  const name = parameter.words.join("");
  const isLast = /^(?:last|family|sur)name$/u.test(name);
  if (!isLast && !/^(?:first|given|fore)name$/u.test(name)) return [];
  const isName = (at: number): boolean => {
    const token = tokens[at];
    return token?.kind === "word" && at > 0 && /^\p{Lu}\p{Ll}/u.test(token.text) && !toolStems.has(token.stem);
  };
  const from = tokens.findIndex((_, at) => isName(at) && isName(at + 1));
  if (from === -1) return [];
  let to = from + 2;
  while (isName(to)) to += 1;
  const at = isLast ? to - 1 : from;
  return [{ parameter, value: textAt(tokens, at), from: at, to: at + 1, score: 59 }];
}

/** "the first 3 pages", where a range is wanted. */
function firstOnes({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  if (!sampleKinds(parameter).has("range") || parameter.stems.length !== 1) return [];
  return tokens.flatMap((token, at) => {
    const isFirst =
      token.kind === "number" && wordAt(tokens, at - 1) === "first" && tokens[at + 1]?.stem === parameter.stems[0];
    const last = Number(token.value);
    return isFirst && last > 0
      ? [{ parameter, value: last === 1 ? "1" : `1-${last}`, from: at, to: at + 1, score: 62 }]
      : [];
  });
}

/** "3.5 kg" is in kilograms, "how many pounds" asks for pounds. */
function unitCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  const roles = rolesOf(parameter);
  if (!roles.has("source") && !roles.has("target")) return [];
  return tokens.flatMap((token, at) => {
    if (!isUnitName(token.word)) return [];
    const before = tokens[at - 1];
    // "20 US dollars", "20 swiss francs".
    const isAmount =
      before?.kind === "number" ||
      (tokens[at - 2]?.kind === "number" && before?.kind === "word" && !isEmptyWord(before.word));
    const isWanted = /^(?:many|in|to|into)$/u.test(wordAt(tokens, at - 1));
    const fits = roles.has("source") ? isAmount : isWanted;
    const value = fits ? convertToken(parameter, token) : undefined;
    return value === undefined ? [] : [{ parameter, value, from: at, to: at + 1, score: 58 }];
  });
}

const determiners = /^(?:the|a|an|my|this|that|our|your)$/u;

/** "MIT license", "main branch": a value may stand before the name. */
function wordBefore(place: FillPlace, parameter: Parameter, at: number): Candidate[] {
  const { tokens } = place;
  const token = tokens[at] as Token;
  // A sentence begins with a capital whatever its first word is.
  if (at === 0 || !isNameAt(place, parameter, at + 1)) return [];
  // "Mexico City" is a name to the end.
  if ([token, tokens[at + 1]].every((word) => /^\p{Lu}\p{Ll}/u.test(word?.text ?? ""))) return [];
  const isWord = isPlainWord(place, token);
  const isNamed = token.kind === "quoted" || (isWord && /[\p{Lu}\d_.-]/u.test(token.text));
  if (!isNamed && !isWord) return [];
  if (!isNamed && rolesOf(parameter).has("place")) return kindOfPlace(place, parameter, at);
  if (!isNamed && !determiners.test(wordAt(tokens, at - 1))) return [];
  const value = convertToken(parameter, token);
  const score = isNamed ? 51 : 42;
  return value === undefined ? [] : [{ parameter, value, from: at, to: at + 1, cueFrom: at, cueTo: at + 2, score }];
}

/** "Thai restaurants", where "Italian" is shown: a name before what the tool is about. */
function likeSample(place: FillPlace, parameter: Parameter, at: number): Candidate[] {
  const { tokens, ownStems } = place;
  const token = tokens[at] as Token;
  const isCapital = (text: string): boolean => /^\p{Lu}\p{Ll}+$/u.test(text);
  const isShown = parameter.samples.length > 0 && parameter.samples.every(isCapital);
  const isName =
    at > 0 && isCapital(token.text) && isPlainWord(place, token) && ownStems.has(tokens[at + 1]?.stem || "-");
  const value = isShown && isName ? convertToken(parameter, token) : undefined;
  return value === undefined ? [] : [{ parameter, value, from: at, to: at + 1, score: 45 }];
}

/** "the upstairs living room": what kind of place it is, is part of its name. "a meeting room" may be any. */
function kindOfPlace(place: FillPlace, parameter: Parameter, at: number): Candidate[] {
  const { tokens, request } = place;
  let from = at;
  while (from > 1 && at - from < 3 && isPlainWord(place, tokens[from - 1] as Token)) from -= 1;
  const before = wordAt(tokens, from - 1);
  if (!/^(?:the|my|our|in|of|for)$/u.test(before)) return [];
  const first = tokens[from] as Token;
  const text = request.text.slice(first.start, tokens[at + 1]?.end);
  const value = convertToken(parameter, { ...first, kind: "quoted", value: text });
  return value === undefined ? [] : [{ parameter, value, from, to: at + 2, score: 52 }];
}

/** A word that says something, and nothing about which tool. */
function isPlainWord({ toolStems }: FillPlace, { kind, word, stem }: Token): boolean {
  return kind === "word" && !isEmptyWord(word) && !toolStems.has(stem);
}

/** The name of the parameter, or the noun that its description begins with: "Speaker to play on". */
function isNameAt({ tokens, toolStems }: FillPlace, { stems, description }: Parameter, at: number): boolean {
  const stem = tokens[at]?.stem ?? "";
  if (stem === "") return false;
  if (stems.length === 1 && stem === stems[0]) return true;
  return stem === toStems(description.slice(0, 40))[0] && !toolStems.has(stem);
}
