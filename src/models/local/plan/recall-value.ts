import type { JsonObject, JsonValue } from "../../../core/json.ts";
import type { DoneCall } from "../conversation/read-conversation.ts";
import { fitNumber } from "../fill/convert-token.ts";
import type { Recall } from "../fill/fill-parameters.ts";
import { matchChoice } from "../fill/match-choice.ts";
import type { Parameter } from "../fill/parameter.ts";
import { rolesOf } from "../fill/roles.ts";
import type { Request } from "../text/read-request.ts";

/** Tells whether a request speaks of what came before: "it", "the result", "that file". */
export function speaksOfBefore(request: Request): boolean {
  const colon = request.tokens.findIndex(({ text }) => text === ":");
  // What is behind a colon is a text, and speaks of what it likes.
  const tokens = colon > 0 ? request.tokens.slice(0, colon) : request.tokens;
  return tokens.some(({ word }, at) => {
    if (/^(?:it|its|them|those|these|result|results|output|outcome|same)$/u.test(word)) return true;
    const next = tokens[at + 1];
    const isNoun =
      next === undefined ||
      next.kind === "mark" ||
      /^(?:file|text|number|value|document|result|list|one|page|archive|folder|answer)$/u.test(next.word);
    return /^(?:that|this)$/u.test(word) && isNoun;
  });
}

/** What a step follows. */
interface Context {
  /** Whether it follows another one of the same request. */
  readonly isChained: boolean;
  /** Whether it goes on with what the last call was about. */
  readonly isSame: boolean;
}

/** Where "it" comes from: the results of earlier calls, the last first, and what was given to them. */
export function createRecall(request: Request, calls: readonly DoneCall[], { isChained, isSame }: Context): Recall {
  const isMeant = speaksOfBefore(request);
  const isAdded = /^\s*(?:and|also|now|ok|okay|then|so|but)\b/iu.test(request.text);
  const last = calls
    .toReversed()
    .filter(({ result }) => result?.status === "ok")
    .slice(0, 5);
  return (parameter) => {
    if (last.length === 0 || (!isMeant && !isChained && !((isAdded || isSame) && isPlace(parameter)))) return undefined;
    for (const { input, result } of last) {
      const value = fromCall(parameter, input, isMeant ? result?.value : undefined);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

function isPlace(parameter: Parameter): boolean {
  const roles = rolesOf(parameter);
  return roles.has("path") || roles.has("folder") || roles.has("url") || roles.has("email");
}

function fromCall(parameter: Parameter, input: JsonObject, result: JsonValue | undefined): JsonValue | undefined {
  const given = Object.hasOwn(input, parameter.name) ? fit(parameter, input[parameter.name]) : undefined;
  const answered = result === undefined ? undefined : fromResult(parameter, result, isPlace(parameter));
  // "It" is the file that was worked on, if a file is wanted, and else what came out.
  if (isPlace(parameter)) return answered ?? given ?? findPlace(parameter, input);
  return answered ?? given;
}

/** Fields in which tools put what they found. */
const mainFields = [
  "result",
  "value",
  "answer",
  "text",
  "content",
  "output",
  "total",
  "sum",
  "count",
  "number",
  "id",
  "body",
];

function fromResult(parameter: Parameter, result: JsonValue, isPlace: boolean): JsonValue | undefined {
  if (isRecord(result)) return fromFields(parameter, result as JsonObject, isPlace);
  const isPlaceText = typeof result === "string" && /^\S{1,300}$/u.test(result) && /[/.]/u.test(result);
  return isPlace && !isPlaceText ? undefined : fit(parameter, result);
}

function fromFields(parameter: Parameter, fields: JsonObject, isPlace: boolean): JsonValue | undefined {
  const named = Object.keys(fields).find((key) => key.toLowerCase() === parameter.name.toLowerCase());
  if (named !== undefined) return fit(parameter, fields[named]);
  // A single thing is no list of them, unless it is called like the list.
  if (isPlace || parameter.type === "array") return undefined;
  const main = mainFields.find((key) => Object.hasOwn(fields, key) && fit(parameter, fields[key]) !== undefined);
  if (main !== undefined) return fit(parameter, fields[main]);
  if (parameter.type === "string" && parameter.choices.length === 0) return JSON.stringify(fields);
  const values = Object.values(fields).filter(
    (value) => typeof value !== "object" && fit(parameter, value) !== undefined,
  );
  return values.length === 1 ? fit(parameter, values[0]) : undefined;
}

function findPlace(parameter: Parameter, input: JsonObject): JsonValue | undefined {
  const values = Object.values(input).flat();
  const place = values.find(
    (value) =>
      typeof value === "string" && /^[^\s]{1,300}$/u.test(value) && /[/\\]|\.[a-z][a-z0-9]{0,7}$/iu.test(value),
  );
  return place === undefined ? undefined : fit(parameter, place);
}

function fit(parameter: Parameter, value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined || value === null) return undefined;
  if (parameter.choices.length > 0)
    return typeof value === "object" ? undefined : matchChoice(parameter, String(value));
  switch (parameter.type) {
    case "string":
      return toText(value);
    case "number":
    case "integer":
      return toNumber(parameter, value);
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "array":
      return toList(parameter, value);
    case "object":
      return isRecord(value) ? value : undefined;
    case "any":
      return value;
  }
}

function toText(value: JsonValue): string | undefined {
  if (typeof value === "object") return Array.isArray(value) ? JSON.stringify(value) : undefined;
  return String(value).trim() === "" ? undefined : String(value);
}

function toNumber(parameter: Parameter, value: JsonValue): number | undefined {
  if (typeof value === "number") return fitNumber(parameter, value);
  const isNumber = typeof value === "string" && /^\s*-?\d{1,40}(?:\.\d{1,40})?\s*$/u.test(value);
  return isNumber ? fitNumber(parameter, Number(value)) : undefined;
}

function isRecord(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toList({ item }: Parameter, value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value;
  const fitted = item === undefined ? undefined : fit(item, value);
  return fitted === undefined ? undefined : [fitted];
}
