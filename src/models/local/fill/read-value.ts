import type { JsonValue } from "../../../core/json.ts";
import { isEmptyWord } from "../text/stems.ts";
import { isValueToken, textAt, type Token, wordAt } from "../text/token.ts";
import type { FillPlace } from "./candidate.ts";
import { convertUnit, isOtherUnit } from "./convert-unit.ts";
import { convertToken, fitNumber } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";
import { rolesOf } from "./roles.ts";

/** A value that begins at a place, and where it ends. */
export interface ReadValue {
  readonly value: JsonValue;
  readonly to: number;
}

/** Reads a value of the kind that the parameter takes at token `at`. */
export function readValue(place: FillPlace, parameter: Parameter, at: number): ReadValue | undefined {
  const token = place.tokens[at];
  if (token === undefined) return undefined;
  if (parameter.type === "array" && token.kind !== "json") return readList(place, parameter, at);
  if (parameter.type === "number" || parameter.type === "integer") return readAmount(place, parameter, at);
  const isText = parameter.type === "string" || parameter.type === "any";
  if (isText && parameter.choices.length === 0 && !isValueToken(token)) return readWords(place, parameter, at);
  const value = convertToken(parameter, token);
  return value === undefined ? undefined : { value, to: at + 1 };
}

/** Reads "82kg", "180 cm", "15%" and "1.2m": in the unit of the parameter, and not at all if it measures something else. */
export function readAmount(
  { tokens }: Pick<FillPlace, "tokens">,
  parameter: Parameter,
  at: number,
): ReadValue | undefined {
  const token = tokens[at] as Token;
  const { amount, unit, to } = amountAt(tokens, at);
  if (amount !== undefined && unit !== "") {
    const converted = convertUnit(parameter, amount, unit);
    const whole = converted === undefined ? undefined : addMore(tokens, parameter, converted, to);
    const fitted = whole === undefined ? undefined : fitNumber(parameter, Number(whole.value));
    if (whole !== undefined && fitted !== undefined) return { value: fitted, to: whole.to };
    if (isOtherUnit(parameter, unit)) return undefined;
  }
  const value = convertToken(parameter, token);
  return value === undefined ? undefined : { value, to: at + 1 };
}

interface Amount {
  readonly amount: number | undefined;
  readonly unit: string;
  readonly to: number;
}

/** "30 minutes" behind "1 hour": more of the same. */
function addMore(tokens: readonly Token[], parameter: Parameter, first: number, from: number): ReadValue {
  let sum = first;
  let to = from;
  for (let parts = 0; parts < 3; parts++) {
    const at = skipJoints(tokens, to);
    const { amount, unit, to: end } = tokens[at] === undefined ? noAmount : amountAt(tokens, at);
    const more = amount === undefined || unit === "" ? undefined : convertUnit(parameter, amount, unit);
    // What comes later is the smaller part.
    if (more === undefined || more >= sum) break;
    sum += more;
    to = end;
  }
  return { value: sum, to };
}

const noAmount: Amount = { amount: undefined, unit: "", to: 0 };

/** A number with its unit, which may be written together. "5m" may be millions, but not for what is measured in metres. */
function amountAt(tokens: readonly Token[], at: number): Amount {
  const { kind, text, value } = tokens[at] as Token;
  if (kind !== "number" || typeof value !== "number") return { amount: undefined, unit: "", to: at + 1 };
  const [, digits = "", suffix = ""] = /^([\d.]+) ?(m|%|percent)$/iu.exec(text) ?? [];
  if (suffix !== "") return { amount: Number(digits), unit: suffix, to: at + 1 };
  const next = tokens[at + 1];
  // "18 °C", "68 degrees fahrenheit"
  const scale = /^(?:°|degrees?)$/iu.test(next?.text ?? "") ? wordAt(tokens, at + 2) : "";
  if (/^(?:c|f|celsius|fahrenheit)$/u.test(scale)) return { amount: value, unit: scale, to: at + 3 };
  return { amount: value, unit: next?.kind === "word" ? next.word : "", to: at + 2 };
}

/** Words that are no value by themselves, whatever the parameter. */
const notValues =
  /^(?:new|current|same|whole|entire|following|other|different|own|given|default|next|last|previous|single|specific|certain|various|more|less|most|least|many|much)$/u;

/** One word, a run of capitalised ones ("Ada Lovelace"), or for names and texts all up to the next small word. */
function readWords(place: FillPlace, parameter: Parameter, at: number): ReadValue | undefined {
  const { tokens } = place;
  const first = tokens[at] as Token;
  if (first.kind === "mark" || isEmptyWord(first.word) || notValues.test(first.text)) return undefined;
  const isLong = takesRun(place, parameter, at);
  let to = at + 1;
  while (to < tokens.length && to - at < 12) {
    const token = tokens[to] as Token;
    const isNext = isLong && token.kind !== "mark" && !isEmptyWord(token.word) && !isKey(place, token);
    const more = isNext ? 1 : isCapital(first) ? restOfName(tokens, to, isLong) : 0;
    if (more === 0) break;
    to += more;
  }
  const value = convertToken(parameter, { ...first, text: toOwner(place, at, to) });
  return value === undefined ? undefined : { value, to };
}

/** "Tom Baker's email" is about Tom Baker; "at Luigi's" is what the place is called. */
function toOwner({ tokens, request }: FillPlace, from: number, to: number): string {
  const said = request.text.slice(tokens[from]?.start, tokens[to - 1]?.end);
  return (tokens[to]?.stem ?? "") === "" ? said : said.replace(/['’]s$/u, "");
}

/** Tells whether a value goes on to the next small word: a name, a text, and a noun behind an article ("from the train station to …"). */
function takesRun({ tokens }: FillPlace, parameter: Parameter, at: number): boolean {
  const roles = rolesOf(parameter);
  if (roles.has("name") || roles.has("text") || roles.has("query")) return true;
  return (roles.has("source") || roles.has("target")) && /^(?:the|my|our)$/u.test(wordAt(tokens, at - 1));
}

/** How many tokens go on with a name: one more word, or two in "Port of Spain" and "Rio de Janeiro". */
function restOfName(tokens: readonly Token[], at: number, isLong: boolean): number {
  if (isCapital(tokens[at])) return isLong ? 0 : 1;
  return nameJoints.test(wordAt(tokens, at)) && isCapital(tokens[at + 1]) ? 2 : 0;
}

/** Small words inside a name. */
const nameJoints = /^(?:of|de|da|do|del|di|la|le|du|des|van|von|am|upon|sur)$/u;

function isCapital(token: Token | undefined): boolean {
  return token?.kind === "word" && /^\p{Lu}/u.test(token.text);
}

/** Reads "a, b and c". */
function readList(place: FillPlace, parameter: Parameter, at: number): ReadValue | undefined {
  const { item } = parameter;
  if (item === undefined) return undefined;
  const values: JsonValue[] = [];
  let to = at;
  for (let next = at; next < place.tokens.length && values.length < 200;) {
    if (/^(?:the|a|an|my|our|some)$/u.test(wordAt(place.tokens, next))) next += 1;
    const token = place.tokens[next];
    if (token === undefined || (next > at && isKey(place, token))) break;
    const value = isListItem(token) ? convertToken(item, token) : undefined;
    if (value === undefined) break;
    values.push(value);
    to = next + 1;
    next = skipJoints(place.tokens, to);
    if (next === to) break;
  }
  return values.length === 0 ? undefined : { value: values, to };
}

function isListItem(token: Token): boolean {
  return isValueToken(token) || (token.kind === "word" && !isEmptyWord(token.word) && !notValues.test(token.word));
}

/** The place behind a comma, an "and" or both; "and then" is one. */
export function skipJoints(tokens: readonly Token[], at: number): number {
  let next = at;
  if (textAt(tokens, next) === ",") next += 1;
  if (/^(?:and|or)$/u.test(wordAt(tokens, next)) || textAt(tokens, next) === "&") next += 1;
  return next > at && wordAt(tokens, next) === "then" ? next + 1 : next;
}

/** Tells whether a token is the name of a parameter: a value that is not in quotes ends before it. */
export function isKey({ parameters }: FillPlace, token: Token): boolean {
  if (token.kind === "flag" || token.kind === "pair") return true;
  return token.stem !== "" && parameters.some(({ stems }) => stems.length === 1 && stems[0] === token.stem);
}
