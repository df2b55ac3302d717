import { isRecord } from "../../core/json.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";

/**
 * Leaves out of `value` what a tool with this input schema has no parameters for, at every level. A value with more properties
 * than a type asks for fits the type, so what the compiler accepts between two steps must not fail when it runs.
 */
export function pickParameters(schema: unknown, value: unknown): unknown {
  if (!isSchemaObject(schema) || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => pickParameters(schema["items"], item));
  const properties = schema["properties"];
  if (!isSchemaObject(properties) || !isRecord(value)) return value;
  const entries = Object.entries(value).filter(([name]) => isOpen(schema) || Object.hasOwn(properties, name));
  return Object.fromEntries(
    entries.map(([name, inner]) => [
      name,
      Object.hasOwn(properties, name) ? pickParameters(properties[name], inner) : inner,
    ]),
  );
}

function isOpen(schema: JsonSchema): boolean {
  return schema["additionalProperties"] !== false || schema["patternProperties"] !== undefined;
}
