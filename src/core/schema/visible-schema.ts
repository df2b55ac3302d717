import { toVisibleText } from "../hidden-characters.ts";
import { cloneJson, type JsonObject } from "../json.ts";
import { innerSchemas, isSchemaObject, type JsonSchema } from "./json-schema.ts";

/**
 * A schema whose titles and descriptions hold nothing that a reader does not see; the schema itself if they hold nothing of it. What
 * inputs are compared with stays as it is.
 */
export function toVisibleSchema<Schema extends JsonSchema>(schema: Schema): Schema {
  if (!hasHidden(schema)) return schema;
  const copy = cloneJson(schema as unknown as JsonObject);
  clean(copy);
  return copy as unknown as Schema;
}

function hasHidden(schema: JsonSchema): boolean {
  if (textKeys.some((key) => toText(schema[key]) !== schema[key])) return true;
  for (const [, inner] of innerSchemas(schema)) if (isSchemaObject(inner) && hasHidden(inner)) return true;
  return false;
}

function clean(schema: Record<string, unknown>): void {
  for (const key of textKeys) if (key in schema) schema[key] = toText(schema[key]);
  for (const [, inner] of innerSchemas(schema)) if (isSchemaObject(inner)) clean(inner);
}

const textKeys = ["title", "description"] as const;

const toText = (value: unknown): unknown => (typeof value === "string" ? toVisibleText(value) : value);
