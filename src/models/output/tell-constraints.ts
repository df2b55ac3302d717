import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { SchemaRules } from "./schema-rules.ts";

/** The constraints of each type. */
export const constraintsOf: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  array: ["minItems", "maxItems", "uniqueItems"],
};

/** Constraints that are told in words where the provider does not take them. */
const told = [
  ...new Set(Object.values(constraintsOf).flat()),
  "minProperties",
  "maxProperties",
  "propertyNames",
  "contains",
  "not",
  "default",
];

/** What is said about a value: its description, the constraints that the provider takes, and the others in words. */
export function tellConstraints(
  schema: JsonSchema,
  { constraints, formats }: SchemaRules,
  type: string | undefined,
): JsonSchema {
  const own = type === undefined ? [] : (constraintsOf[type] ?? []);
  const taken = own.filter((keyword) => constraints.has(keyword) && isUsable(keyword, schema[keyword]));
  const words = told.flatMap((keyword) =>
    taken.includes(keyword) || saysNothing(schema[keyword]) ? [] : [`${keyword}: ${JSON.stringify(schema[keyword])}`],
  );
  const { format } = schema;
  if (typeof format === "string") {
    if (type === "string" && formats.has(format)) taken.push("format");
    else words.push(`format: ${format}`);
  }
  return withNote(
    { ...noteOf(schema), ...Object.fromEntries(taken.map((keyword) => [keyword, schema[keyword]])) },
    words.join(", "),
  );
}

/** The description of a schema, if it has one. */
export function noteOf({ description }: JsonSchema): JsonSchema {
  return typeof description === "string" ? { description } : {};
}

/** Adds words to the description of a schema. */
export function withNote(schema: JsonSchema, note: string): JsonSchema {
  if (note === "") return schema;
  const { description } = schema;
  return { ...schema, description: typeof description === "string" ? `${description} (${note})` : note };
}

function isUsable(keyword: string, value: unknown): boolean {
  // No provider's decoder knows lookarounds.
  if (keyword === "pattern" && /\(\?[=!<]/u.test(String(value))) return false;
  return !saysNothing(value);
}

/** Libraries write the largest whole numbers as the limits of every whole number. */
function saysNothing(value: unknown): boolean {
  return value === undefined || value === false || Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
}
