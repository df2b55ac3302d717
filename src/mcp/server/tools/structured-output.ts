import type { JsonValue } from "../../../core/json.ts";
import { innerSchemas, isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { McpGeneration } from "../client.ts";

/**
 * How the output of a tool goes into `structuredContent`: as it is, or as `{ result: … }`, because the 2025 generation knows objects
 * only. Not at all if the tool does not say what it gives, or its schema cannot be put into another.
 */
export type StructuredForm = "plain" | "wrapped" | "none";

/** Says how the output of a tool with this schema is structured. */
export function findStructuredForm(schema: JsonSchema | undefined, generation: McpGeneration): StructuredForm {
  if (schema === undefined) return "none";
  if (generation === "2026" || schema["type"] === "object") return "plain";
  return hasReference(schema) ? "none" : "wrapped";
}

/** The schema of what {@link toStructured} gives. */
export function toStructuredSchema(schema: JsonSchema, form: StructuredForm): JsonSchema | undefined {
  if (form === "none") return undefined;
  return form === "plain" ? schema : { type: "object", properties: { result: schema }, required: ["result"] };
}

/** The `structuredContent` for an output. */
export function toStructured(output: JsonValue, form: "plain" | "wrapped"): JsonValue {
  return form === "plain" ? output : { result: output };
}

/** A reference counts from the root: inside another schema it would mean something else. */
function hasReference(schema: JsonSchema): boolean {
  if ("$ref" in schema || "$dynamicRef" in schema) return true;
  for (const [, inner] of innerSchemas(schema)) if (isSchemaObject(inner) && hasReference(inner)) return true;
  return false;
}
