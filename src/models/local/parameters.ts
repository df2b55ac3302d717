import type { JsonValue } from "../../core/json.ts";
import { isSchemaObject, resolveReference, type JsonSchema } from "../../core/schema/json-schema.ts";
import { squash, stemsOf } from "./words.ts";

/** A value that a tool takes, as the model sees it. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly type: "any" | "array" | "boolean" | "integer" | "number" | "object" | "string";
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** The words of its name, and those of its description. */
  readonly words: readonly string[];
  readonly aboutWords: readonly string[];
  /** The values that it takes, if they are listed. */
  readonly choices: readonly JsonValue[];
  /** What kind of text it takes. */
  readonly takes: "choice" | "date" | "email" | "file" | "other" | "text" | "url";
  /** Of a list, what is in it. */
  readonly item?: Parameter;
}

type Entry = readonly [name: string, schema: unknown];

/** The parameters of a schema, the required ones first. Schemas that make no sense have none. */
export function parametersOf(root: unknown): Parameter[] {
  if (!isSchemaObject(root)) return [];
  const schema = settle(root, root);
  const { properties, required } = schema;
  if (!isSchemaObject(properties)) return [];
  const needed = new Set(Array.isArray(required) ? (required as readonly unknown[]) : []);
  const entries = Object.entries(properties).slice(0, 200) as Entry[];
  return entries
    .map(([name, property]) => toParameter(root, [name, property], needed.has(name)))
    .toSorted((left, right) => Number(right.isRequired) - Number(left.isRequired));
}

const types = new Set(["array", "boolean", "integer", "number", "object", "string"]);

function toParameter(root: JsonSchema, [name, property]: Entry, isRequired: boolean, depth = 0): Parameter {
  const schema = settle(root, property);
  const said: unknown = schema["type"];
  const named: unknown = Array.isArray(said) ? said.find((one) => one !== "null") : said;
  const choices = "const" in schema ? [schema["const"]] : Array.isArray(schema["enum"]) ? schema["enum"] : [];
  const guessed = choices.length > 0 ? typeof choices[0] : isSchemaObject(schema["properties"]) ? "object" : "any";
  const type = types.has(String(named))
    ? (named as Parameter["type"])
    : types.has(guessed)
      ? (guessed as "string")
      : "any";
  const description = typeof schema["description"] === "string" ? schema["description"] : "";
  return {
    name,
    description,
    type,
    schema,
    isRequired,
    words: stemsOf(name),
    aboutWords: stemsOf(description),
    choices: choices.filter((choice) => choice !== null).slice(0, 200) as JsonValue[],
    takes: choices.length > 0 ? "choice" : takesOf(name, description, schema["format"]),
    ...(type === "array" && depth < 2 && { item: toParameter(root, [name, schema["items"]], true, depth + 1) }),
  };
}

const places =
  /(?:^|[^\p{L}])(?:archive|csv|directory|document|file|filename|folder|image|path|pdf|photo)(?:$|[^\p{L}])/iu;
const days = /(?:^|[^\p{L}])(?:date|day|deadline|since|until)(?:$|[^\p{L}])/iu;

function takesOf(name: string, description: string, format: unknown): Parameter["takes"] {
  const spaced = name.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replaceAll("_", " ");
  if (format === "date" || format === "date-time") return "date";
  if (format === "uri" || format === "url" || /^(?:url|uri|link)$/iu.test(name)) return "url";
  if (format === "email" || squash(name).endsWith("email")) return "email";
  if (places.test(spaced)) return "file";
  if (days.test(spaced)) return "date";
  if (typeof format === "string") return "other";
  if (/^(?:the |a |an |optional )?(?:[\p{L}-]+ ){0,2}(?:archive|directory|file|folder|path|pdf)\b/iu.test(description))
    return "file";
  return /\bdate\b/iu.test(description) ? "date" : "text";
}

/** The schema behind references and alternatives, the first that is more than `null`. */
function settle(root: JsonSchema, value: unknown): JsonSchema {
  let schema = isSchemaObject(value) ? value : {};
  for (let step = 0; step < 8; step++) {
    const branches = schema["anyOf"] ?? schema["oneOf"] ?? schema["allOf"];
    const { anyOf: _any, oneOf: _one, allOf: _all, $ref: reference, ...own } = schema;
    const next: unknown =
      typeof reference === "string"
        ? resolveReference(root, reference)
        : Array.isArray(branches)
          ? branches.find((branch) => isSchemaObject(branch) && branch["type"] !== "null")
          : undefined;
    if (!isSchemaObject(next)) return schema;
    schema = { ...next, ...own };
  }
  return schema;
}
