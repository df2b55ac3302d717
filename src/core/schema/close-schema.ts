import { isSchemaObject, type JsonSchema } from "./json-schema.ts";

/** Keywords that let other places say which properties there are; beside them an object cannot be closed. */
const openKeywords = [
  "additionalProperties",
  "unevaluatedProperties",
  "patternProperties",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "$ref",
];

/**
 * Closes every object that lists its `properties` and does not say whether it takes others: an unknown parameter is then a
 * mistake that is reported, not one that is silently dropped. Objects inside `anyOf` and its like are left alone.
 */
export function closeSchema(schema: JsonSchema): JsonSchema {
  const closed: Record<string, unknown> = { ...schema };
  if (isSchemaObject(schema["properties"])) {
    closed["properties"] = mapValues(schema["properties"], closeInner);
    if (!openKeywords.some((keyword) => keyword in schema)) closed["additionalProperties"] = false;
  }
  if (isSchemaObject(schema["items"])) closed["items"] = closeInner(schema["items"]);
  if (isSchemaObject(schema["additionalProperties"]))
    closed["additionalProperties"] = closeInner(schema["additionalProperties"]);
  return closed;
}

function closeInner(schema: unknown): unknown {
  return isSchemaObject(schema) ? closeSchema(schema) : schema;
}

function mapValues(values: JsonSchema, change: (value: unknown) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
