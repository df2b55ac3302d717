import type { JsonValue } from "../../../core/json.ts";
import { isEmptyWord } from "../text/stems.ts";
import { synonymsOf } from "../text/synonyms.ts";
import { isSlashName, isValueToken, textAt, type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { convertToken, plainText } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";
import { isKey, readAmount, readValue } from "./read-value.ts";
import { readRequest } from "../text/read-request.ts";
import { hasForm, rolesOf, takesPlace } from "./roles.ts";

/** Other small words for a parameter whose name is one. */
const smallWords = new Map<string, readonly string[]>([
  ["by", ["per", "each", "every"]],
  ["since", ["after", "from"]],
  ["until", ["before", "till"]],
  ["to", ["into"]],
  ["in", ["inside"]],
  ["with", ["using"]],
]);

/** Values that the request gives by name: `--limit 5`, `limit=5`, "limit: 5", "a limit of 5", "by region". */
export function keyedCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  return place.tokens.flatMap((token, at) => {
    if (token.kind === "flag") return flagCandidates(place, parameter, at);
    if (token.kind === "pair") return pairCandidates(parameter, token, at);
    if (token.kind !== "word") return [];
    const name = matchName(place, parameter, at);
    return name === undefined ? [] : valueBehind(place, parameter, at, name);
  });
}

function flagCandidates(place: FillPlace, parameter: Parameter, at: number): Candidate[] {
  const [, name = "", value] = /^--?([\w-]+)(?:=(.*))?$/su.exec((place.tokens[at] as Token).text) ?? [];
  const isNo = name.startsWith("no-") && fold(name.slice(3)) === fold(parameter.name);
  if (fold(name) !== fold(parameter.name) && !isNo) return [];
  if (parameter.type === "boolean")
    return [{ parameter, value: !isNo && value !== "false", from: at, to: at + 1, score: 100 }];
  if (value === undefined) {
    const next = readValue(place, parameter, at + 1);
    return next === undefined ? [] : [{ parameter, value: next.value, from: at, to: next.to, score: 100 }];
  }
  return fromText(parameter, value, at, 100);
}

function pairCandidates(parameter: Parameter, token: Token, at: number): Candidate[] {
  const [, name = "", operator = "", value = ""] = /^([^=!<>]+)(!=|>=|<=|==|=)(.*)$/su.exec(token.text) ?? [];
  if (operator === "=" && fold(name) === fold(parameter.name)) return fromText(parameter, value, at, 100);
  // A condition ("status=paid") is for a parameter that says it takes such.
  const takesPairs =
    `${parameter.description} ${parameter.samples.join(" ")} ${(parameter.item?.samples ?? []).join(" ")}`.includes(
      "=",
    );
  if (!takesPairs) return [];
  if (parameter.type === "string") return [{ parameter, value: token.text, from: at, to: at + 1, score: 60 }];
  return parameter.type === "array" ? [{ parameter, value: [token.text], from: at, to: at + 1, score: 60 }] : [];
}

function fromText(parameter: Parameter, text: string, at: number, score: number): Candidate[] {
  const bare = text.replace(/^(["'])(.*)\1$/su, "$2");
  const value = toValue(parameter, bare);
  return value === undefined ? [] : [{ parameter, value, from: at, to: at + 1, score }];
}

function toValue(parameter: Parameter, text: string): JsonValue | undefined {
  if (parameter.type === "array" && parameter.item !== undefined) {
    const { item } = parameter;
    const values = text.split(",").flatMap((part) => toValue(item, part.trim()) ?? []);
    return values.length === 0 ? undefined : values;
  }
  const [token, ...rest] = readRequest(text).tokens;
  if (token === undefined) return undefined;
  return convertToken(parameter, rest.length === 0 ? token : { ...token, kind: "quoted", value: text });
}

interface NameMatch {
  readonly to: number;
  /** Less sure if another word stands for the name. */
  readonly trust: number;
}

/** Words at the end of a name that say what kind of value it is: people leave them out. */
const kindWords =
  /^(?:percent|pct|ms|seconds|secs|minutes|hours|days|bytes|count|number|id|name|date|time|text|value|url|path|file)$/u;

function matchName({ tokens }: FillPlace, parameter: Parameter, at: number): NameMatch | undefined {
  const { words } = parameter;
  if (isWritten(tokens, words, at)) return { to: at + words.length, trust: 0 };
  if (words.length === 1) return matchOneWord(parameter, tokens[at] as Token, at);
  if (fold(wordAt(tokens, at)) === words.join("")) return { to: at + 1, trust: 0 };
  // "save it as" for `save_as`
  const isParted = /^(?:it|them|this|that)$/u.test(wordAt(tokens, at + 1)) && sameWord(tokens[at], words[0] ?? "");
  if (isParted && isWritten(tokens, words.slice(1), at + 2)) return { to: at + words.length + 1, trust: 0 };
  const short = kindWords.test(words.at(-1) ?? "") ? words.slice(0, -1) : [];
  return isWritten(tokens, short, at) ? { to: at + short.length, trust: -12 } : undefined;
}

function isWritten(tokens: readonly Token[], words: readonly string[], at: number): boolean {
  return words.length > 0 && words.every((word, index) => sameWord(tokens[at + index], word));
}

function matchOneWord(parameter: Parameter, { word, stem }: Token, at: number): NameMatch | undefined {
  const { words, stems } = parameter;
  const [own = ""] = stems;
  if (own !== "" && own === stem) return { to: at + 1, trust: 0 };
  // "assign it to …" for `assignee`
  if (isVerbOf(own, stem)) return { to: at + 1, trust: -4 };
  const isSmallWord = smallWords.get(words[0] ?? "")?.includes(word) === true;
  // Words for "text" are all over any text.
  const isSynonym = stem !== "" && synonymsOf(own).has(stem) && !rolesOf(parameter).has("text");
  // "the most common 3 word phrases": of a number, what it counts says more than a word like the name.
  return isSmallWord || isSynonym ? { to: at + 1, trust: isSynonym && isNumeric(parameter) ? -22 : -12 } : undefined;
}

/** Tells whether a word is what is done to get what a name says: whoever assigns something names the assignee. */
function isVerbOf(own: string, stem: string): boolean {
  return stem.length >= 4 && own.startsWith(stem) && /^(?:e|ee|er|or|ment)$/u.test(own.slice(stem.length));
}

function isNumeric({ type }: Parameter): boolean {
  return type === "integer" || type === "number";
}

function sameWord(token: Token | undefined, word: string): boolean {
  if (token?.kind !== "word") return false;
  return token.word === word || token.word === `${word}s` || `${token.word}s` === word || token.word === `${word}es`;
}

const joints =
  /^(?:is|of|to|be|up|as|equals|the|a|an|it|this|them|column|columns|field|fields|named|called|at|only|just|file|folder)$/u;

function valueBehind(place: FillPlace, parameter: Parameter, at: number, name: NameMatch): Candidate[] {
  const { tokens } = place;
  const hasColon = /^[:=]$/u.test(textAt(tokens, name.to));
  let from = hasColon ? name.to + 1 : name.to;
  if (hasColon && rolesOf(parameter).has("text")) return restOf(place, parameter, at, from);
  // "5 years at 6%": what is counted stands behind its number.
  const isCounted = isNumeric(parameter) && tokens[at - 1]?.kind === "number";
  if (!hasColon && (isCounted || isMessageTo(place, parameter, from))) return [];
  for (let skipped = 0; skipped < 3 && joints.test(wordAt(tokens, from)); skipped++) from += 1;
  const found = readValue(place, parameter, from);
  const score = hasColon ? 95 : scoreBehind(place, parameter, at, from);
  if (found === undefined || score === 0) return [];
  return [{ parameter, value: found.value, from, to: found.to, cueFrom: at, cueTo: from, score: score + name.trust }];
}

/** "a message to Anna" names who gets it; "change the message to …" does not. */
function isMessageTo({ tokens }: FillPlace, parameter: Parameter, at: number): boolean {
  const isSet = /^(?:set|change|update|edit|rename|make)$/u.test(wordAt(tokens, 0));
  return wordAt(tokens, at) === "to" && rolesOf(parameter).has("text") && !isSet;
}

function scoreBehind(place: FillPlace, parameter: Parameter, at: number, from: number): number {
  const { tokens, ownStems } = place;
  const token = tokens[from];
  if (token === undefined || isForOther(place, parameter, from)) return 0;
  if (parameter.choices.length > 0) return 80;
  // "the recipe to 12 servings": a number behind a small word is hardly a text.
  const isStray =
    token.kind === "number" && parameter.type === "string" && from > at + 1 && !numbered.test(parameter.name);
  if (isStray) return 30;
  if (isValueToken(token)) return canBeNamed(parameter, token) ? 80 : 0;
  // "text file": the next word belongs to the tool, it is no value of "text".
  if (hasForm(parameter) || ownStems.has(token.stem)) return 0;
  return isEmptyWord(wordAt(tokens, at)) ? 72 : 62;
}

function canBeNamed(parameter: Parameter, token: Token): boolean {
  return takesPlace(parameter, token.kind) || rolesOf(parameter).has("folder") || isSlashName(token);
}

function isForOther(place: FillPlace, parameter: Parameter, at: number): boolean {
  return isPhoneOfOther(place, parameter, place.tokens[at] as Token) || isMeasure(place, parameter, at);
}

/** "text +41 79 …": the number of a telephone is for what takes one, if there is such. */
function isPhoneOfOther({ parameters }: FillPlace, parameter: Parameter, { kind }: Token): boolean {
  const takesPhone = (other: Parameter): boolean => rolesOf(other).has("phone");
  return kind === "reference" && !takesPhone(parameter) && parameters.some(takesPhone);
}

/** "the living room 70 °F": what is measured is for what counts in such units. */
function isMeasure(place: FillPlace, { type }: Parameter, at: number): boolean {
  if (type !== "string" || place.tokens[at]?.kind !== "number") return false;
  return place.parameters.some((other) => isNumeric(other) && (readAmount(place, other, at)?.to ?? 0) > at + 1);
}

const numbered = /number|no|id|code|version|year|zip|phone|page|line|value|amount/iu;

/** Everything behind the colon, up to the next name with a colon: of a text it would be a pity to lose anything. */
function restOf(place: FillPlace, parameter: Parameter, at: number, from: number): Candidate[] {
  const { tokens, request } = place;
  const first = tokens[from];
  if (first === undefined) return [];
  const next = tokens.findIndex(
    (token, index) => index > from && isKey(place, token) && textAt(tokens, index + 1) === ":",
  );
  const end = next === -1 ? tokens.length : next;
  const isOne = from === end - 1 || (isValueToken(first) && first.kind !== "number");
  const to = isOne ? from + 1 : end;
  const rest = request.text.slice(first.start, next === -1 ? undefined : tokens[next]?.start).trim();
  const text = isOne ? plainText(first) : next === -1 ? rest : rest.replace(/(?:[,;]|\s+and)?$/u, "");
  const value = convertToken(parameter, { ...first, kind: "quoted", value: text });
  return value === undefined ? [] : [{ parameter, value, from, to, cueFrom: at, cueTo: from, score: 78 }];
}

function fold(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]/gu, "");
}
