import { type JsonSchema, isSchemaObject, schemaPlaces } from "../../core/schema/json-schema.ts";
import { toVisibleSchema } from "../../core/schema/close-schema.ts";

/** What says nothing to a model that it does not read elsewhere. */
const silent = new Set(["$schema", "$id", "$comment", "title", "readOnly", "writeOnly"]);

const made = new WeakMap<JsonSchema, JsonSchema>();

/**
 * A schema as a model needs it: without comments, what only programs read, and titles that only say a name again. What it takes is the
 * same but for properties that it does not name, which are refused with the nearest name when the call is made. Made once for each schema.
 */
export function compactSchema(schema: JsonSchema): JsonSchema {
  let compact = made.get(schema);
  if (compact === undefined) {
    compact = compactOne(toVisibleSchema(schema));
    made.set(schema, compact);
  }
  return compact;
}

/** `name` is that of the property which the schema is of. */
function compactOne(schema: JsonSchema, name?: string): JsonSchema {
  const compact: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (silent.has(key) && !(key === "title" && saysMore(schema, name))) continue;
    if ((key === "additionalProperties" || key === "deprecated") && value === false) continue;
    compact[key] = compactValue(schemaPlaces[key], value);
  }
  return compact;
}

/** Whether a title is all that a property says about itself, and is more than its name. */
function saysMore({ title, description }: JsonSchema, name: string | undefined): boolean {
  if (name === undefined || typeof title !== "string" || description !== undefined) return false;
  return toLetters(title) !== toLetters(name);
}

function toLetters(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function compactValue(place: (typeof schemaPlaces)[string] | undefined, value: unknown): unknown {
  if (place === undefined || typeof value !== "object" || value === null) return value;
  if (place === "list") return Array.isArray(value) ? value.map((inner) => compactAny(inner)) : value;
  if (place === "map") {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, compactAny(inner, name)]));
  }
  return Array.isArray(value) ? value.map((inner) => compactAny(inner)) : compactAny(value);
}

function compactAny(value: unknown, name?: string): unknown {
  return isSchemaObject(value) ? compactOne(value, name) : value;
}
