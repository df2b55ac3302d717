import { innerSchemas, isSchemaObject } from "../../core/schema/json-schema.ts";

/** Tells whether a schema refers to another place, so that it means nothing outside its own root. */
export function hasReference(schema: unknown): boolean {
  if (!isSchemaObject(schema)) return false;
  if (schema["$ref"] !== undefined || schema["$dynamicRef"] !== undefined) return true;
  return innerSchemas(schema).some(([, inner]) => hasReference(inner));
}
