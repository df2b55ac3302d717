import type { JsonObject } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";

/** What a schema can say of an object without naming its properties. Whatever begins with "$" or "x-" may be there, too. */
const words: ReadonlySet<string> = new Set([
  ...["type", "title", "description", "default", "examples", "enum", "const", "deprecated", "readOnly", "writeOnly"],
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "definitions", "format", "contentMediaType"],
  ...["required", "additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"],
  ...["minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies"],
  ...["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems"],
  ...["minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
]);

/** Types, and what other languages call them. */
const types: ReadonlyMap<string, string> = new Map([
  ...["string", "number", "integer", "boolean", "object", "array"].map((type) => [type, type] as const),
  ...([
    ["str", "string"],
    ["int", "integer"],
    ["float", "number"],
    ["bool", "boolean"],
    ["dict", "object"],
    ["list", "array"],
  ] as const),
]);

/**
 * Why a schema is likely none: `{"text": "string"}` has no property, only a word that means nothing, so that everything would fit.
 * Says how it is written.
 */
export function refuseSchemaForm(part: string, schema: JsonSchema | undefined): string | undefined {
  if (schema === undefined || "properties" in schema) return undefined;
  const unknown = Object.keys(schema).filter((key) => !words.has(key) && !/^(?:\$|x-)/u.test(key));
  if (unknown.length === 0) return undefined;
  const properties = Object.fromEntries(unknown.map((key): [string, JsonObject] => [key, toSchema(schema[key])]));
  const cure = JSON.stringify({ type: "object", properties, required: unknown });
  return `${part}: it is no JSON Schema, because it has no "properties"; write ${cure.length > 500 ? '{"type": "object", "properties": {…}}' : cure}`;
}

function toSchema(given: unknown): JsonObject {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given as JsonObject;
  return { type: types.get(String(given)) ?? "string" };
}
