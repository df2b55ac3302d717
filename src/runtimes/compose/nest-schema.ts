import { innerSchemas, isSchemaObject, schemaPlaces, type JsonSchema } from "../../core/schema/json-schema.ts";

/**
 * Makes `schema` right for a place inside another one: its references, which start at the root, are led to `pointer`
 * (`#/properties/weather`). A schema with names of its own (`$id`, `$anchor`) cannot be moved; it becomes `{}`, which takes
 * anything.
 */
export function nestSchema(schema: JsonSchema | undefined, pointer: string): JsonSchema {
  if (schema === undefined || hasOwnNames(schema)) return {};
  return move(schema, pointer) as JsonSchema;
}

const nameKeywords = ["$id", "$anchor", "$dynamicAnchor", "$dynamicRef"];

function hasOwnNames(schema: unknown): boolean {
  if (!isSchemaObject(schema)) return false;
  const reference = schema["$ref"];
  if (typeof reference === "string" && !/^#(?:\/|$)/u.test(reference)) return true;
  if (nameKeywords.some((keyword) => Object.hasOwn(schema, keyword))) return true;
  return innerSchemas(schema).some(([, inner]) => hasOwnNames(inner));
}

function move(schema: unknown, pointer: string): unknown {
  if (!isSchemaObject(schema)) return schema;
  return mapValues(schema, (value, keyword) => moveKeyword(keyword, value, pointer));
}

function moveKeyword(keyword: string, value: unknown, pointer: string): unknown {
  if (keyword === "$ref" && typeof value === "string") return pointer + value.slice(1);
  // A keyword like `const` or `default` holds a value, in which `$ref` is only a key.
  const place = Object.hasOwn(schemaPlaces, keyword) ? schemaPlaces[keyword] : undefined;
  if (place === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => move(item, pointer));
  if (place === "map" && isSchemaObject(value)) return mapValues(value, (inner) => move(inner, pointer));
  return move(value, pointer);
}

function mapValues(values: JsonSchema, change: (value: unknown, name: string) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}
