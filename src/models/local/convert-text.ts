import { maxJsonDepth, type JsonValue } from "../../core/json.ts";
import { convertTo } from "../../core/schema/coerce.ts";
import type { Parameter } from "./parameters.ts";
import { squash, stemsOf } from "./words.ts";

/** The value that a text is for a parameter; `undefined` if the parameter does not take it. */
export function convertText(parameter: Parameter, text: string): JsonValue | undefined {
  const { choices, type } = parameter;
  if (choices.length > 0) return choiceOf(parameter, text);
  switch (type) {
    case "string":
      return isTextFor(parameter, text) ? text : undefined;
    case "boolean":
      return /^(?:true|yes|on)$/iu.test(text) ? true : /^(?:false|no|off)$/iu.test(text) ? false : undefined;
    case "integer":
    case "number":
      return toNumber(parameter, text);
    case "array":
      return toList(parameter, text);
    case "object":
      return convertTo("object", text, maxJsonDepth);
    case "any":
      return toNumber(parameter, text) ?? toContainer(text) ?? text;
  }
}

/** The choice of a parameter, or of what is in its list, that is written so: "upper case" is `uppercase`, "walking" is `walk`. */
export function choiceOf({ choices, item }: Parameter, text: string): JsonValue | undefined {
  const all = (item?.choices ?? choices).map((choice) => ({
    choice,
    said: typeof choice === "string" ? choice : JSON.stringify(choice),
  }));
  const stems = stemsOf(text).join(" ");
  const same = all.find(({ said }) => squash(said) === squash(text));
  return (same ?? all.find(({ said }) => stems !== "" && stemsOf(said).join(" ") === stems))?.choice;
}

/** Whether a text can be what the schema and the name ask for. */
function isTextFor({ name, schema, takes }: Parameter, text: string): boolean {
  const { format, maxLength, pattern } = schema;
  if (takes === "date" && format === "date" && !/^\d{4}-\d{2}-\d{2}$/u.test(text)) return false;
  if (typeof maxLength === "number" && text.length > maxLength) return false;
  if (/time$/iu.test(name) && !/^\d{1,2}:\d{2}/u.test(text)) return false;
  if (/(?:_id|_?number|_no)$/iu.test(name) && !/\d/u.test(text)) return false;
  return typeof pattern !== "string" || fitsPattern(pattern, text);
}

/** Only patterns without repetition are used, which take no time: the call is checked against all of them. */
function fitsPattern(pattern: string, text: string): boolean {
  if (!/^\^[\w[\]\\{}-]{1,60}\$$/u.test(pattern)) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

function toNumber({ type, schema }: Parameter, text: string): number | undefined {
  if (!/^[-+]?[\d,]+(?:\.\d+)?%?$/u.test(text)) return undefined;
  const value = Number(text.replaceAll(/[,%+]/gu, ""));
  const { minimum, maximum } = schema;
  if (!Number.isFinite(value) || (type === "integer" && !Number.isInteger(value))) return undefined;
  if (typeof minimum === "number" && value < minimum) return undefined;
  return typeof maximum === "number" && value > maximum ? undefined : value;
}

function toContainer(text: string): JsonValue | undefined {
  return convertTo("array", text, maxJsonDepth) ?? convertTo("object", text, maxJsonDepth);
}

function toList({ item }: Parameter, text: string): JsonValue | undefined {
  const list = convertTo("array", text, maxJsonDepth);
  if (list !== undefined) return list;
  const parts = text.split(/\s*,\s*/u).filter((part) => part !== "");
  const values = parts.map((part) => (item === undefined ? part : convertText(item, part)));
  return values.length === 0 || values.includes(undefined) ? undefined : (values as JsonValue[]);
}
