import type { JsonValue } from "../../../core/json.ts";
import type { Token } from "../text/token.ts";
import { matchChoice } from "./match-choice.ts";
import type { Parameter } from "./parameter.ts";
import { rolesOf, sampleKinds } from "./roles.ts";
import { currencyCodeOf } from "./unit-names.ts";

/** What a token means as the value of a parameter; `undefined` if it cannot be one. */
export function convertToken(parameter: Parameter, token: Token): JsonValue | undefined {
  if (parameter.choices.length > 0) return matchChoice(parameter, plainText(token));
  switch (parameter.type) {
    case "number":
    case "integer":
      return toNumber(parameter, token);
    case "boolean":
      return toBoolean(token);
    case "array":
    case "object":
      return token.kind === "json" && fitsContainer(parameter, token.value) ? token.value : undefined;
    case "string":
      return toText(parameter, token);
    case "any":
      return token.kind === "json" || token.kind === "number" ? token.value : plainText(token);
  }
}

/** The text of a token without its quotes; of ranges as they are written in one piece ("2-4,9"). */
export function plainText(token: Token): string {
  const isWrapped = token.kind === "quoted" || token.kind === "code" || token.kind === "range";
  return isWrapped && typeof token.value === "string" ? token.value : token.text;
}

function fitsContainer({ type }: Parameter, value: JsonValue | undefined): boolean {
  return type === "array" ? Array.isArray(value) : typeof value === "object" && value !== null && !Array.isArray(value);
}

function toNumber(parameter: Parameter, token: Token): number | undefined {
  const number =
    token.kind === "quoted" && /^-?\d+(?:\.\d+)?$/u.test(plainText(token)) ? Number(plainText(token)) : token.value;
  const isNumber = token.kind === "number" || token.kind === "quoted";
  if (!isNumber || typeof number !== "number") return undefined;
  const { maximum } = parameter.schema;
  const isShare = /%|percent/iu.test(token.text) && maximum === 1;
  return fitNumber(parameter, isShare ? number / 100 : number);
}

/** The number itself if the parameter may have it. */
export function fitNumber({ type, schema }: Parameter, number: number): number | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (type === "integer" && !Number.isSafeInteger(number)) return undefined;
  if (typeof minimum === "number" && number < minimum) return undefined;
  if (typeof maximum === "number" && number > maximum) return undefined;
  if (typeof exclusiveMinimum === "number" && number <= exclusiveMinimum) return undefined;
  return typeof exclusiveMaximum === "number" && number >= exclusiveMaximum ? undefined : number;
}

function toBoolean(token: Token): boolean | undefined {
  if (/^(?:true|yes|on|enabled?)$/u.test(token.word)) return true;
  return /^(?:false|no|off|disabled?|never)$/u.test(token.word) ? false : undefined;
}

function toText(parameter: Parameter, token: Token): string | undefined {
  const text = toPlainValue(parameter, token);
  if (text === undefined) return undefined;
  return [text, ...otherForms(parameter, token)].find((form) => fitsSchema(parameter, form));
}

function fitsSchema({ schema: { minLength, maxLength, pattern } }: Parameter, text: string): boolean {
  if (typeof minLength === "number" && text.length < minLength) return false;
  if (typeof maxLength === "number" && text.length > maxLength) return false;
  return typeof pattern !== "string" || fitsPattern(pattern, text);
}

/** The same in other letters: "9:30" as 09:30, "ab-12" as AB-12, "euros" as EUR. A plain word is no code because its letters would be. */
function otherForms({ schema: { pattern } }: Parameter, token: Token): string[] {
  if (token.kind === "time") return clockForms(token.text);
  if (typeof pattern !== "string") return [];
  const code = currencyCodeOf(token.word);
  if (code !== undefined) return [code, code.toLowerCase()];
  const text = plainText(token);
  return /\d/u.test(text) ? [text.toUpperCase(), text.toLowerCase()] : [];
}

function clockForms(text: string): string[] {
  const clock = toClock(text);
  return clock === undefined ? [] : [clock.slice(0, 5), clock];
}

/** Tells whether the pattern of a parameter is one that plain words do not have, so that what fits it is meant. */
export function hasStrictPattern({ schema: { pattern } }: Parameter): boolean {
  return typeof pattern === "string" && !["word", "Some words", "a"].some((text) => fitsPattern(pattern, text));
}

function toPlainValue(parameter: Parameter, token: Token): string | undefined {
  const { format } = parameter.schema;
  if (token.kind === "date") return toDateText(parameter, token);
  if (token.kind === "time") return toTimeText(parameter, token.text);
  const roles = rolesOf(parameter);
  if (token.kind === "url" && roles.has("url") && !roles.has("host")) return withScheme(token.text);
  const text = plainText(token);
  const isPhone = roles.has("phone") && !/\b(?:name|contact)\b/iu.test(parameter.description);
  if ((isPhone || isNumbered(parameter)) && !/\d/u.test(text)) return undefined;
  const form = typeof format === "string" ? formats.get(format) : undefined;
  return form === undefined || form.test(text) ? text : undefined;
}

/** Tells whether a text is the number of something: words alone are none. */
function isNumbered({ words, samples, schema: { pattern } }: Parameter): boolean {
  const isShown = samples.length > 0 || typeof pattern === "string";
  return (
    /^(?:number|no|nr|index|position)$/u.test(words.at(-1) ?? "") &&
    !(isShown && !samples.every((sample) => /\d/u.test(sample)))
  );
}

/** What a text of these formats looks like, roughly. */
const formats = new Map([
  ["date", /^\d{4}-\d{2}-\d{2}$/u],
  ["date-time", /^\d{4}-\d{2}-\d{2}T/u],
  ["email", /^\S+@\S+$/u],
  ["uri", /^[a-z][\w+.-]*:/iu],
  ["url", /^[a-z][\w+.-]*:/iu],
]);

function toDateText(parameter: Parameter, token: Token): string | undefined {
  const { format } = parameter.schema;
  const iso = typeof token.value === "string" ? token.value : undefined;
  if (format === "date") return iso?.slice(0, 10);
  if (format === "date-time") return iso === undefined || iso.includes("T") ? iso : `${iso}T00:00:00Z`;
  // Some understand "2 weeks ago" themselves, and say so.
  const takesWords = /\b(?:ago|yesterday|tomorrow)\b/iu.test(`${parameter.description} ${parameter.samples.join(" ")}`);
  const isRelative = !/\d{4}/u.test(token.text);
  if (takesWords && isRelative) return token.text;
  if (sampleKinds(parameter).has("date") || rolesOf(parameter).has("date")) return iso ?? token.text;
  return token.text;
}

function toTimeText({ schema: { format }, description, samples }: Parameter, text: string): string | undefined {
  if (format === "time") return toClock(text);
  // A time of day alone is no day.
  if (format === "date" || format === "date-time") return undefined;
  const isClock = /\bHH:MM\b/iu.test(description) || samples.some((sample) => /^\d{2}:\d{2}$/u.test(sample));
  return isClock ? clockForms(text)[0] : text;
}

function toClock(text: string): string | undefined {
  const [, hours = "", minutes = "00", half = ""] = /^(\d{1,2})(?::(\d{2}))?(?::\d{2})? ?([ap])?/iu.exec(text) ?? [];
  const shift =
    half.toLowerCase() === "p" && Number(hours) < 12
      ? 12
      : half.toLowerCase() === "a" && Number(hours) === 12
        ? -12
        : 0;
  return hours === "" ? undefined : `${String(Number(hours) + shift).padStart(2, "0")}:${minutes}:00`;
}

function withScheme(text: string): string {
  return /^[a-z][\w+.-]*:\/\//iu.test(text) ? text : `https://${text}`;
}

/** Patterns of strangers may take forever; a short text and a pattern without nested repetition do not. */
function fitsPattern(pattern: string, text: string): boolean {
  if (text.length > 200 || pattern.length > 200 || /[+*}]\)?[+*{]|\([^)]*[+*][^)]*\)[+*{]/u.test(pattern)) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}
