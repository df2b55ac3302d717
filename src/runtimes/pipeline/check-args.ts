import type { Problem } from "../../core/errors.ts";
import { toPath, type JsonValue } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import { describeNames, describeSchema } from "../../core/schema/describe-schema.ts";
import { fitsOnce } from "../../core/schema/engine.ts";
import { followReferences, isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import { checkLeniently } from "../../core/schema/validator.ts";
import type { SchemaPlace } from "./find-field.ts";
import { hasReference } from "./composed-schemas.ts";
import type { Template } from "./template.ts";
import { below } from "./read-plan.ts";

type Path = readonly (string | number)[];

/**
 * What is wrong with a step's arguments, as far as it can be known before they are made: names that the tool does not have,
 * parameters that are missing, fixed values that do not fit.
 */
export function checkArgs(schema: JsonSchema, args: Template, path: Path): Problem[] {
  return checkTemplate({ root: schema, schema }, args, path);
}

function checkTemplate(place: SchemaPlace, template: Template, path: Path): Problem[] {
  switch (template.kind) {
    case "reference":
    case "text":
      return [];
    case "literal":
      return checkLiteral(place, template.value, path);
    case "list":
      return checkItems(place, template.items, path);
    case "object":
      return checkObject(place, template.entries, path);
  }
}

function checkLiteral(place: SchemaPlace, value: JsonValue, path: Path): Problem[] {
  const schema = followReferences(place.root, place.schema);
  // Away from its root a schema that refers to it means nothing.
  if (!isSchemaObject(schema) || (schema !== place.root && hasReference(schema))) return [];
  if (fitsOnce(schema, value)) return [];
  // The check fills in defaults and makes lenient changes in place.
  const checked = checkLeniently(schema, structuredClone(value));
  return checked.ok ? [] : checked.problems.map((problem) => below(toPath(path), problem));
}

function checkItems(place: SchemaPlace, items: readonly Template[], path: Path): Problem[] {
  const schema = followReferences(place.root, place.schema);
  if (!isSchemaObject(schema) || schema["prefixItems"] !== undefined) return [];
  const inner = { root: place.root, schema: schema["items"] };
  return items.flatMap((item, index) => checkTemplate(inner, item, [...path, index]));
}

/** Beside these the properties alone do not say what an object must be. */
const openKeywords = ["anyOf", "oneOf", "allOf", "if", "not"];

function checkObject(place: SchemaPlace, entries: readonly (readonly [string, Template])[], path: Path): Problem[] {
  const schema = followReferences(place.root, place.schema);
  if (!isSchemaObject(schema) || openKeywords.some((keyword) => keyword in schema)) return [];
  const properties = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  const isClosed = schema["additionalProperties"] === false && schema["patternProperties"] === undefined;
  const problems = entries.flatMap(([name, inner]) => {
    if (Object.hasOwn(properties, name)) {
      return checkTemplate({ root: place.root, schema: properties[name] }, inner, [...path, name]);
    }
    return isClosed ? [unknownName(name, Object.keys(properties), path)] : [];
  });
  return [...problems, ...missingNames(schema, new Map(entries), properties, path)];
}

function unknownName(name: string, known: readonly string[], path: Path): Problem {
  const [nearest] = nearestNames(name, known, 1);
  return {
    path: toPath([...path, name]),
    expected: known.length === 0 ? "no parameters" : `only ${describeNames(known)}`,
    found: "an unknown parameter",
    ...(nearest !== undefined && { didYouMean: nearest }),
  };
}

function missingNames(
  schema: JsonSchema,
  given: ReadonlyMap<string, Template>,
  properties: JsonSchema,
  path: Path,
): Problem[] {
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const missing = required.filter((name): name is string => typeof name === "string" && !given.has(name));
  return missing
    .filter((name) => !hasDefault(properties[name]))
    .map((name) => ({ path: toPath([...path, name]), expected: describeSchema(properties[name]), found: "nothing" }));
}

function hasDefault(schema: unknown): boolean {
  return isSchemaObject(schema) && Object.hasOwn(schema, "default");
}
