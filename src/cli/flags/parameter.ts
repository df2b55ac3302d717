import { isSchemaObject, resolveReference, type JsonSchema } from "../../core/schema/json-schema.ts";

/** What an object's schema says about its properties, seen through references and alternatives. */
export interface ObjectShape {
  readonly properties: ReadonlyMap<string, JsonSchema>;
  /** The names that every alternative demands. */
  readonly required: ReadonlySet<string>;
  /** The schema of any other property; none if there may be no other. */
  readonly others: JsonSchema | undefined;
}

/** A reference can lead to itself. */
const deepest = 16;

/** Finds out which properties an object may have. */
export function getShape(root: JsonSchema, schema: JsonSchema): ObjectShape {
  const properties = new Map<string, JsonSchema>();
  const required = new Set<string>();
  let others: JsonSchema | undefined;
  for (const { part, isSure } of partsOf(root, schema)) {
    const own = isSchemaObject(part["properties"]) ? part["properties"] : {};
    for (const [name, property] of Object.entries(own)) {
      const known = properties.get(name);
      const wanted = isSchemaObject(property) ? property : {};
      properties.set(name, known === undefined ? wanted : { anyOf: [known, wanted] });
    }
    if (isSure && Array.isArray(part["required"])) for (const name of part["required"]) required.add(String(name));
    others ??= othersOf(part);
  }
  return { properties, required, others };
}

function othersOf(part: JsonSchema): JsonSchema | undefined {
  const others = part["additionalProperties"] ?? part["unevaluatedProperties"];
  if (isSchemaObject(others)) return others;
  if (others !== undefined) return others === true ? {} : undefined;
  // An object that lists nothing takes anything; one that only points elsewhere says nothing of its own.
  const pointsElsewhere = ["$ref", "anyOf", "oneOf", "allOf"].some((keyword) => keyword in part);
  return part["properties"] === undefined && !pointsElsewhere ? {} : undefined;
}

interface Part {
  readonly part: JsonSchema;
  /** It holds whatever the value is; not one of several alternatives. */
  readonly isSure: boolean;
}

/** The schema itself and those it is made of: behind `$ref`, in `allOf`, `anyOf` and `oneOf`. */
function partsOf(root: JsonSchema, schema: unknown, isSure = true, depth = 0): Part[] {
  if (!isSchemaObject(schema) || depth > deepest) return [];
  const inside = (inner: unknown, sure: boolean): Part[] => partsOf(root, inner, sure, depth + 1);
  const reference = schema["$ref"];
  return [
    { part: schema, isSure },
    ...(typeof reference === "string" ? inside(resolveReference(root, reference), isSure) : []),
    ...listOf(schema["allOf"]).flatMap((inner) => inside(inner, isSure)),
    ...[...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])].flatMap((inner) => inside(inner, false)),
  ];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The types that a value may have, in the order of the schema; none if anything goes. */
export function getTypes(root: JsonSchema, schema: JsonSchema): ReadonlySet<string> {
  const types = new Set<string>();
  for (const { part } of partsOf(root, schema)) {
    const { type } = part;
    for (const name of Array.isArray(type) ? type : [type]) if (typeof name === "string") types.add(name);
    if (type === undefined) for (const choice of choicesOf(part)) types.add(typeOf(choice));
  }
  return types;
}

/** The values that are listed with `enum` or `const`. */
export function getChoices(root: JsonSchema, schema: JsonSchema): readonly unknown[] {
  return partsOf(root, schema).flatMap(({ part }) => choicesOf(part));
}

function choicesOf(part: JsonSchema): readonly unknown[] {
  return "const" in part ? [part["const"]] : listOf(part["enum"]);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** The schema of a list's items; anything if it does not say. */
export function getItems(root: JsonSchema, schema: JsonSchema): JsonSchema {
  for (const { part } of partsOf(root, schema)) if (isSchemaObject(part["items"])) return part["items"];
  return {};
}

/** Tells whether a parameter is a switch: it is on or off, and its flag takes no value. */
export function isSwitch(root: JsonSchema, schema: JsonSchema): boolean {
  const types = getTypes(root, schema);
  return types.has("boolean") && [...types].every((type) => type === "boolean" || type === "null");
}
