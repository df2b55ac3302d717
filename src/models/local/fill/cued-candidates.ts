import { isEmptyWord } from "../text/stems.ts";
import { isValueToken, type Token } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { convertToken } from "./convert-token.ts";
import { hasUnit } from "./convert-unit.ts";
import { isUnitName } from "./match-choice.ts";
import type { Parameter } from "./parameter.ts";
import { readValue } from "./read-value.ts";
import { cuesOf, rolesOf, sampleKinds, type Role } from "./roles.ts";

/** Values that a small word leads to ("in src", "to French", "top 5", "by Ada"), or a word behind or before them names. */
export function cuedCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  const byCue = [...rolesOf(parameter)].flatMap((role) =>
    place.tokens.flatMap((_, at) => cuedAt(place, parameter, role, at)),
  );
  return [
    ...byCue,
    ...unitCandidates(place, parameter),
    ...nameCandidates(place, parameter),
    ...place.tokens.flatMap((_, at) => [...numberBefore(place, parameter, at), ...wordBefore(place, parameter, at)]),
  ];
}

const determiners = /^(?:the|a|an|my|this|that|our|your)$/u;
const nouns = /^(?:file|folder|directory|repo|repository|project|document|archive)$/u;

function cuedAt(place: FillPlace, parameter: Parameter, role: Role, at: number): Candidate[] {
  const { tokens } = place;
  if (!(cuesOf[role] ?? []).includes(tokens[at]?.word ?? "")) return [];
  let from = at + 1;
  const hasDeterminer = determiners.test(tokens[from]?.word ?? "");
  if (hasDeterminer) from += 1;
  if (nouns.test(tokens[from]?.word ?? "") && tokens[from + 1] !== undefined && isValueToken(tokens[from + 1] as Token))
    from += 1;
  const token = tokens[from];
  // What is searched for may be many words: that is for the free text to find.
  if (role === "query" && parameter.isRequired && token?.kind === "word") return [];
  if (token === undefined || !fitsRole(place, parameter, role, { at: from, hasDeterminer })) return [];
  const found = readValue(place, parameter, from);
  if (found === undefined) return [];
  const score = cueScore(role, token) - (parameter.type === "array" ? 4 : 0);
  return [{ parameter, value: found.value, from, to: found.to, cueFrom: at, cueTo: from, score }];
}

/** A name in the middle of a sentence: "what did Grace commit". */
function nameCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  const { tokens, toolStems } = place;
  const roles = rolesOf(parameter);
  if (!(roles.has("person") || roles.has("place")) || parameter.type !== "string") return [];
  return tokens.flatMap((token, at) => {
    const isName = at > 0 && token.kind === "word" && /^\p{Lu}\p{Ll}/u.test(token.text) && !toolStems.has(token.stem);
    const found = isName && !/^[.!?:]$/u.test(tokens[at - 1]?.text ?? "") ? readValue(place, parameter, at) : undefined;
    return found === undefined ? [] : [{ parameter, value: found.value, from: at, to: found.to, score: 42 }];
  });
}

/** "3.5 kg" is in kilograms, "how many pounds" asks for pounds. */
function unitCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  const roles = rolesOf(parameter);
  const isText = parameter.type === "string" && parameter.choices.length === 0;
  if (!isText || !(roles.has("source") || roles.has("target"))) return [];
  return tokens.flatMap((token, at) => {
    if (!isUnitName(token.word)) return [];
    const before = tokens[at - 1];
    const isAmount = before?.kind === "number";
    const isWanted =
      before?.word === "many" || before?.word === "in" || before?.word === "to" || before?.word === "into";
    if (!(roles.has("source") ? isAmount : isWanted)) return [];
    return [{ parameter, value: token.text, from: at, to: at + 1, score: 58 }];
  });
}

function cueScore(role: Role, token: Token): number {
  if (role === "source" || role === "target" || role === "limit") return 56;
  if (role === "name") return 60;
  return isValueToken(token) ? 54 : 46;
}

interface CuedToken {
  readonly at: number;
  readonly hasDeterminer: boolean;
}

/** Tells whether the token may be a value in this part: which small words mean what depends on what follows. */
function fitsRole(place: FillPlace, parameter: Parameter, role: Role, { at, hasDeterminer }: CuedToken): boolean {
  const token = place.tokens[at] as Token;
  switch (role) {
    case "limit":
      return token.kind === "number";
    case "date":
      return token.kind === "date";
    case "time":
      return token.kind === "time";
    case "email":
      return token.kind === "email";
    case "person":
      return (
        token.kind === "quoted" || token.kind === "email" || (token.kind === "word" && /^\p{Lu}/u.test(token.text))
      );
    case "folder":
      return (
        (token.kind === "path" && !/[^/\\.]\.[a-z][a-z0-9]{0,7}$/iu.test(token.text)) ||
        token.kind === "quoted" ||
        isFolderWord(place, at, hasDeterminer)
      );
    case "place":
      return (
        token.kind === "quoted" || (token.kind === "word" && token.stem !== "" && !place.toolStems.has(token.stem))
      );
    case "source":
    case "target":
      return token.kind !== "mark" && !(hasDeterminer && token.kind === "word") && takesPlace(parameter, token);
    default:
      return token.kind !== "mark" && !place.toolStems.has(token.stem);
  }
}

/** "from a.json to b.json" is for what takes files; who describes units takes none. */
function takesPlace(parameter: Parameter, { kind }: Token): boolean {
  if (kind !== "path" && kind !== "url") return true;
  return parameter.description === "" || rolesOf(parameter).has(kind) || sampleKinds(parameter).has(kind);
}

/** "in src" and "in the src folder" name a folder, "in the project" does not. */
function isFolderWord({ tokens, toolStems }: FillPlace, at: number, hasDeterminer: boolean): boolean {
  const token = tokens[at] as Token;
  if (token.kind !== "word" || isEmptyWord(token.word) || nouns.test(token.word)) return false;
  if (/^(?:folder|directory|dir)$/u.test(tokens[at + 1]?.word ?? "")) return true;
  return (
    !hasDeterminer && !toolStems.has(token.stem) && /^[a-z][\w.-]*$/u.test(token.text) && at === lastWordAt(tokens)
  );
}

function lastWordAt(tokens: readonly Token[]): number {
  return tokens.findLastIndex(({ kind }) => kind !== "mark");
}

/** "10 entries", "the 5 most frequent words", "30 seconds": what is counted says which parameter is meant. */
function numberBefore(place: FillPlace, parameter: Parameter, at: number): Candidate[] {
  const { tokens } = place;
  const isNumeric = parameter.type === "number" || parameter.type === "integer";
  if (!isNumeric || tokens[at]?.kind !== "number" || tokens[at].text.toLowerCase() === "one") return [];
  const found = readValue(place, parameter, at);
  if (found === undefined) return [];
  const isPercent =
    /%|percent/iu.test(tokens[at].text) && /percent|%/iu.test(`${parameter.name} ${parameter.description}`);
  if (isPercent) return [{ parameter, value: found.value, from: at, to: at + 1, score: 64 }];
  if (found.to > at + 1) return [{ parameter, value: found.value, from: at, to: found.to, score: 66 }];
  const following = tokens.slice(at + 1, at + 5);
  const end = following.findIndex(
    ({ kind, word }) => kind !== "word" || /^(?:and|of|in|from|to|with|for|by)$/u.test(word),
  );
  const words = end === -1 ? following : following.slice(0, end);
  const limit = rolesOf(parameter).has("limit");
  const isShared = (stem: string): boolean =>
    place.parameters.some(
      (other) =>
        other !== parameter &&
        isNumeric === (other.type === "number" || other.type === "integer") &&
        other.descriptionStems.has(stem),
    );
  const scores = words.map(({ stem }, distance) => {
    if (stem === "" && words[distance]?.word !== "most") return 0;
    if (parameter.stems.includes(stem)) return 62 - distance;
    if (parameter.descriptionStems.has(stem) && !isShared(stem)) return (limit ? 52 : 44) - distance;
    if (!limit) return 0;
    if (/^(?:results?|items?|entries|rows|lines|most)$/u.test(words[distance]?.word ?? "")) return 46 - distance;
    return place.toolStems.has(stem) ? 42 - distance / 2 : 0;
  });
  const score = Math.max(0, ...scores) - (hasUnit(parameter) ? 20 : 0);
  return score > 0 ? [{ parameter, value: found.value, from: at, to: at + 1, score }] : [];
}

/** "MIT license", "main branch": a value may stand before the name. */
function wordBefore(place: FillPlace, parameter: Parameter, at: number): Candidate[] {
  const { tokens } = place;
  const token = tokens[at] as Token;
  const next = tokens[at + 1];
  const isText = parameter.type === "string" && parameter.choices.length === 0;
  if (!isText || parameter.stems.length !== 1 || next?.stem !== parameter.stems[0]) return [];
  const isWord = token.kind === "word" && !isEmptyWord(token.word) && !place.toolStems.has(token.stem);
  if (!isWord && token.kind !== "quoted") return [];
  const isNamed = token.kind === "quoted" || /[\p{Lu}\d_.-]/u.test(token.text);
  // A sentence begins with a capital whatever its first word is.
  if (at === 0 || (!isNamed && determiners.test(tokens[at - 1]?.word ?? "") === false)) return [];
  const value = convertToken(parameter, token);
  return value === undefined
    ? []
    : [{ parameter, value, from: at, to: at + 1, cueFrom: at, cueTo: at + 2, score: isNamed ? 51 : 42 }];
}
