import { describeNames } from "../../core/schema/describe-schema.ts";
import { followReferences, isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";

/** A schema inside another one, whose references start at the root. */
export interface SchemaPlace {
  readonly root: JsonSchema;
  readonly schema: unknown;
}

/** What a schema says about a field: where its schema is, that anything may be there, or why it cannot exist. */
export type FieldSearch =
  | { readonly found: "place"; readonly place: SchemaPlace }
  | { readonly found: "anything" }
  | { readonly found: "nothing"; readonly expected: string; readonly known: readonly string[]; readonly depth: number };

const anything: FieldSearch = { found: "anything" };

/** Follows `path` into a schema. Fields that are listed without a word about others are all there are. */
export function findField(place: SchemaPlace, path: readonly (string | number)[]): FieldSearch {
  let search: FieldSearch = { found: "place", place };
  for (const [depth, step] of path.entries()) {
    if (search.found !== "place") return search;
    search = stepInto(search.place, step, new Set());
    if (search.found === "nothing") return { ...search, depth };
  }
  return search;
}

/** Keywords that let other places say what a value is; what they say is not followed. */
const openKeywords = ["allOf", "if", "not", "$dynamicRef", "dependentSchemas", "unevaluatedProperties"];

function stepInto(place: SchemaPlace, step: string | number, seen: Set<unknown>): FieldSearch {
  const { root } = place;
  const schema = followReferences(place.root, place.schema);
  // A branch can refer to the schema it is a branch of.
  if (!isSchemaObject(schema) || seen.has(schema)) return anything;
  seen.add(schema);
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) return stepIntoBranches(root, branches, (branch) => stepInto(branch, step, seen));
  if (openKeywords.some((keyword) => keyword in schema)) return anything;
  const types = typesOf(schema);
  if (step === "length" && types.includes("array")) return at(root, { type: "integer" });
  const wanted = typeof step === "number" ? "array" : "object";
  if (types.length > 0 && !types.includes(wanted)) {
    const isList = types.includes("array");
    return nothing(
      isList ? 'an index such as [0], or "length", because it is a list' : `nothing inside ${types.join(" or ")}`,
    );
  }
  return typeof step === "number" ? findItem(root, schema, step) : findProperty(root, schema, step);
}

function findItem(root: JsonSchema, schema: JsonSchema, index: number): FieldSearch {
  const prefix: unknown[] = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  const items = index < prefix.length ? prefix[index] : schema["items"];
  return isSchemaObject(items) ? at(root, items) : anything;
}

function findProperty(root: JsonSchema, schema: JsonSchema, name: string): FieldSearch {
  const { properties, additionalProperties: others = false } = schema;
  if (isSchemaObject(properties) && Object.hasOwn(properties, name)) return at(root, properties[name]);
  if (schema["patternProperties"] !== undefined) return anything;
  if (isSchemaObject(others)) return at(root, others);
  const isListed = isSchemaObject(properties) || schema["additionalProperties"] === false;
  if (others !== false || !isListed) return anything;
  const known = isSchemaObject(properties) ? Object.keys(properties) : [];
  return nothing(known.length === 0 ? "no field at all" : `one of ${describeNames(known)}`, known);
}

function stepIntoBranches(
  root: JsonSchema,
  branches: readonly unknown[],
  step: (branch: SchemaPlace) => FieldSearch,
): FieldSearch {
  const places = branches.map((schema) => ({ root, schema })).filter((place) => !isNull(place));
  const searches = places.map(step);
  const possible = searches.filter((search) => search.found !== "nothing");
  const [only] = possible;
  if (only !== undefined) return possible.length === 1 ? only : anything;
  const known = searches.flatMap((search) => (search.found === "nothing" ? search.known : []));
  return nothing(known.length === 0 ? "no field at all" : `one of ${describeNames(known)}`, known);
}

function isNull(place: SchemaPlace): boolean {
  const schema = followReferences(place.root, place.schema);
  return isSchemaObject(schema) && schema["type"] === "null";
}

function typesOf(schema: JsonSchema): readonly string[] {
  const types: unknown[] = Array.isArray(schema["type"]) ? schema["type"] : [schema["type"]];
  return types.filter((type): type is string => typeof type === "string" && type !== "null");
}

function at(root: JsonSchema, schema: unknown): FieldSearch {
  return { found: "place", place: { root, schema } };
}

function nothing(expected: string, known: readonly string[] = []): FieldSearch {
  return { found: "nothing", expected, known, depth: 0 };
}
