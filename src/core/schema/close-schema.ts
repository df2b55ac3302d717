import { toVisibleText } from "../hidden-characters.ts";
import { cloneJson, type JsonObject } from "../json.ts";
import { innerSchemas, isSchemaObject, resolveReference, type JsonSchema } from "./json-schema.ts";

/** Keywords that let other places say which properties there are; beside them an object cannot be closed. */
const openKeywords = [
  "$ref",
  "additionalProperties",
  "allOf",
  "anyOf",
  "dependentSchemas",
  "if",
  "oneOf",
  "patternProperties",
  "unevaluatedProperties",
];

/** Where a schema is all there is for a part of the value. */
const partKeywords = new Set(["additionalProperties", "items", "prefixItems", "properties"]);

/**
 * Closes every object that lists its `properties` and does not say whether it takes others: an unknown parameter is then a
 * mistake that is reported, not one that is silently dropped. Objects that are one of several for the same value, inside `anyOf`
 * and its like, are left alone, and so is what those refer to; but not one that may only be something simple instead, like
 * `null`. Changes `schema` in place; it must be ours.
 */
export function closeSchema(schema: JsonSchema): JsonSchema {
  const open = new Set<JsonSchema>();
  const alone = new Set<JsonSchema>();

  function leaveOpen(inner: unknown): void {
    if (!isSchemaObject(inner) || open.has(inner)) return;
    open.add(inner);
    for (const [[keyword], further] of innerSchemas(inner)) if (!isDefinition(keyword)) leaveOpen(further);
    if (typeof inner["$ref"] === "string") leaveOpen(resolveReference(schema, inner["$ref"]));
  }

  function visitAlone(inner: unknown): void {
    if (!isSchemaObject(inner) || alone.has(inner)) return;
    alone.add(inner);
    for (const [[keyword], further] of innerSchemas(inner)) {
      if (partKeywords.has(keyword) || isOnlyObject(inner, keyword, further)) visitAlone(further);
      else if (!isDefinition(keyword)) leaveOpen(further);
    }
    if (typeof inner["$ref"] !== "string") return;
    const target = resolveReference(schema, inner["$ref"]);
    if (hasOtherSchemas(inner)) leaveOpen(target);
    else visitAlone(target);
  }

  visitAlone(schema);
  for (const inner of alone) {
    const isListed = isSchemaObject(inner["properties"]) && !openKeywords.some((keyword) => keyword in inner);
    if (isListed && !open.has(inner)) (inner as Record<string, unknown>)["additionalProperties"] = false;
  }
  return schema;
}

function isDefinition(keyword: string): boolean {
  return keyword === "$defs" || keyword === "definitions";
}

function hasOtherSchemas(schema: JsonSchema): boolean {
  return innerSchemas(schema).some(([[keyword]]) => !isDefinition(keyword));
}

const simpleTypes = new Set<unknown>(["null", "string", "number", "integer", "boolean"]);

/** Tells whether `branch` stands in an `anyOf` or `oneOf` whose other branches are all something simple. */
function isOnlyObject(schema: JsonSchema, keyword: string, branch: unknown): boolean {
  if (keyword !== "anyOf" && keyword !== "oneOf") return false;
  const others = (schema[keyword] as unknown[]).filter((other) => other !== branch);
  return (
    schema["properties"] === undefined &&
    others.every((other) => isSchemaObject(other) && simpleTypes.has(other["type"]))
  );
}

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
