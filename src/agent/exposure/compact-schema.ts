import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { isSchemaObject, schemaPlaces } from "../../core/schema/json-schema.ts";

/** What says nothing to a model that it does not read elsewhere. */
const silent = new Set(["$schema", "$id", "$comment", "title", "examples", "readOnly", "writeOnly", "deprecated"]);

const made = new WeakMap<JsonSchema, JsonSchema>();

/**
 * A schema as a model needs it: without titles, comments and what only programs read. What it takes is the same but for properties that
 * it does not name, which are refused with the nearest name when the call is made. Made once for each schema.
 */
export function compactSchema(schema: JsonSchema): JsonSchema {
  let compact = made.get(schema);
  if (compact === undefined) {
    compact = compactOne(schema);
    made.set(schema, compact);
  }
  return compact;
}

function compactOne(schema: JsonSchema): JsonSchema {
  const compact: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (silent.has(key) || (key === "additionalProperties" && value === false)) continue;
    compact[key] = compactValue(schemaPlaces[key], value);
  }
  return compact;
}

function compactValue(place: (typeof schemaPlaces)[string] | undefined, value: unknown): unknown {
  if (place === undefined || typeof value !== "object" || value === null) return value;
  if (place === "list") return Array.isArray(value) ? value.map(compactAny) : value;
  if (place === "map") {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, compactAny(inner)]));
  }
  return Array.isArray(value) ? value.map(compactAny) : compactAny(value);
}

function compactAny(value: unknown): unknown {
  return isSchemaObject(value) ? compactOne(value) : value;
}
