/** A JSON Schema, draft 2020-12 or 7, as data. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** Tells whether `value` can be looked at as a schema with keywords. */
export function isSchemaObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Where a schema holds further schemas: under one keyword, in a list, or by name. */
export const schemaPlaces: Readonly<Record<string, "one" | "list" | "map">> = {
  additionalProperties: "one",
  allOf: "list",
  anyOf: "list",
  contains: "one",
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

/** The schemas directly inside `schema`, each with the path that leads to it. */
export function* innerSchemas(schema: JsonSchema): Generator<readonly [path: readonly (string | number)[], unknown]> {
  for (const keyword of Object.keys(schema)) {
    const place = Object.hasOwn(schemaPlaces, keyword) ? schemaPlaces[keyword] : undefined;
    const value = schema[keyword];
    if (place === "one") {
      if (!Array.isArray(value)) yield [[keyword], value];
      // Draft 7 writes a tuple as a list under `items`.
      else for (const [index, item] of value.entries()) yield [[keyword, index], item];
    } else if (place === "list" && Array.isArray(value)) {
      for (const [index, item] of value.entries()) yield [[keyword, index], item];
    } else if (place === "map" && isSchemaObject(value)) {
      for (const name of Object.keys(value)) yield [[keyword, name], value[name]];
    }
  }
}

/** Finds what a local `$ref` (`#`, `#/…`, `#anchor`) points at; `undefined` if it points at nothing, or elsewhere. */
export function resolveReference(root: JsonSchema, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#")) return undefined;
  if (!reference.startsWith("#/")) return findAnchor(root, reference.slice(1), 0);
  let found: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = unescapePointer(step);
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function findAnchor(schema: JsonSchema, anchor: string, depth: number): unknown {
  if (schema["$anchor"] === anchor) return schema;
  if (depth > 32) return undefined;
  for (const [, inner] of innerSchemas(schema)) {
    const found = isSchemaObject(inner) ? findAnchor(inner, anchor, depth + 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function unescapePointer(step: string): string {
  const text = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Takes a JSON pointer apart; whole numbers become indexes. */
export function parsePointer(pointer: string): (string | number)[] {
  const steps = pointer.replace(/^#/u, "").split("/").slice(1);
  return steps.map((step) => (/^(?:0|[1-9]\d*)$/u.test(step) ? Number(step) : unescapePointer(step)));
}
