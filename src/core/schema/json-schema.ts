/** A JSON Schema, draft 2020-12 or 7, as data. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** Tells whether `value` is a schema with keywords. */
export function isSchemaObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The types that a schema names; none if it does not say. */
export function wantedTypes(schema: JsonSchema): readonly string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? (type as string[]) : [];
}

/** Tells whether `value` is of a type of JSON Schema. */
export function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Where a schema holds further schemas: under one keyword, in a list, or by name. */
export const schemaPlaces: Readonly<Record<string, "one" | "list" | "map">> = {
  additionalItems: "one",
  additionalProperties: "one",
  allOf: "list",
  anyOf: "list",
  contains: "one",
  dependencies: "map",
  dependentSchemas: "map",
  else: "one",
  if: "one",
  items: "one",
  not: "one",
  oneOf: "list",
  patternProperties: "map",
  prefixItems: "list",
  properties: "map",
  propertyNames: "one",
  then: "one",
  unevaluatedItems: "one",
  unevaluatedProperties: "one",
  $defs: "map",
  definitions: "map",
};

/** The places whose schemas are for the same value as the schema they are in, and not for a part of it. */
export const inPlaceKeywords: ReadonlySet<string> = new Set([
  "allOf",
  "anyOf",
  "dependencies",
  "dependentSchemas",
  "else",
  "if",
  "not",
  "oneOf",
  "then",
]);

/** The schemas directly inside `schema`, each with the path that leads to it. */
export function* innerSchemas(
  schema: JsonSchema,
): Generator<readonly [path: readonly [keyword: string, ...(string | number)[]], unknown]> {
  for (const keyword of Object.keys(schema)) {
    const place = Object.hasOwn(schemaPlaces, keyword) ? schemaPlaces[keyword] : undefined;
    const value = schema[keyword];
    if (Array.isArray(value)) {
      // Draft 7 writes a tuple as a list under `items`.
      if (place === "list" || keyword === "items") {
        for (const [index, item] of value.entries()) yield [[keyword, index], item];
      }
    } else if (place === "one") yield [[keyword], value];
    else if (place === "map" && isSchemaObject(value)) {
      for (const name of Object.keys(value)) {
        // Draft 7 also lists names under `dependencies`.
        if (keyword !== "dependencies" || !Array.isArray(value[name])) yield [[keyword, name], value[name]];
      }
    }
  }
}

/** Finds what a local `$ref` (`#`, `#/…`, `#anchor`) points at; `undefined` if it points at nothing, or elsewhere. */
export function resolveReference(root: JsonSchema, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#")) return undefined;
  if (!reference.startsWith("#/")) return findAnchor(root, reference.slice(1));
  let found: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = unescapePointer(step);
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

/** Finds the schema that `schema` refers to, through references that refer further; `schema` itself if it does not refer. */
export function followReferences(root: JsonSchema, schema: unknown): unknown {
  let target = schema;
  // `checkSchema` has refused references that never end.
  while (isSchemaObject(target) && typeof target["$ref"] === "string") target = resolveReference(root, target["$ref"]);
  return target;
}

function findAnchor(schema: JsonSchema, anchor: string): unknown {
  if (schema["$anchor"] === anchor) return schema;
  for (const [, inner] of innerSchemas(schema)) {
    const found = isSchemaObject(inner) ? findAnchor(inner, anchor) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function unescapePointer(step: string): string {
  return decodeStep(step).replaceAll("~1", "/").replaceAll("~0", "~");
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** The schemas under `patternProperties` that are for a property of this name. */
export function matchingPatterns(schema: JsonSchema, name: string): unknown[] {
  const patterns = schema["patternProperties"];
  if (!isSchemaObject(patterns)) return [];
  return Object.keys(patterns)
    .filter((pattern) => new RegExp(pattern, "u").test(name))
    .map((pattern) => patterns[pattern]);
}

/** The schema for the item of a list at `index`. */
export function itemSchema(schema: JsonSchema, index: number): unknown {
  const { items, prefixItems } = schema;
  // Draft 7 writes a tuple as a list under `items`, and the rest as `additionalItems`.
  if (Array.isArray(items)) return index < items.length ? items[index] : schema["additionalItems"];
  return Array.isArray(prefixItems) && index < prefixItems.length ? prefixItems[index] : items;
}
