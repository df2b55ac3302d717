import { showValue, toPath, type JsonValue } from "../json.ts";
import { isSchemaObject, resolveReference, type JsonSchema } from "./json-schema.ts";

/** One change that made an input fit: models write `"3"` for `3`, one value for a list of one. */
export interface Coercion {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

/** What {@link coerceInput} answers. */
export interface Coerced {
  readonly value: JsonValue;
  readonly coerced: readonly Coercion[];
}

/**
 * Fills in defaults and makes the lenient changes that models need, each noted: text to number or boolean, number or boolean to
 * text, one value to a list of one, JSON written as text to the list or object it stands for, `null` for something optional to
 * nothing. Changes `value` in place; it must be ours. A value that fits none of this stays as it is, for the check to report.
 */
export function coerceInput(schema: JsonSchema, value: JsonValue): Coerced {
  const walk: Walk = { root: schema, coerced: [], path: [] };
  return { value: coerceValue(walk, schema, value), coerced: walk.coerced };
}

interface Walk {
  readonly root: JsonSchema;
  readonly coerced: Coercion[];
  readonly path: (string | number)[];
}

/** A value is at most this deep, so a schema that refers to itself is followed no further. */
const deepest = 64;

function coerceValue(walk: Walk, schema: unknown, value: JsonValue): JsonValue {
  if (!isSchemaObject(schema) || walk.path.length > deepest) return value;
  const reference = schema["$ref"];
  if (typeof reference === "string") return coerceValue(walk, followReference(walk.root, reference), value);
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) return coerceBranches(walk, branches, value);
  const wanted = wantedTypes(schema);
  const changed =
    wanted.length === 0 || wanted.some((type) => isOfType(type, value)) ? value : convert(walk, wanted, value);
  if (Array.isArray(changed)) return coerceItems(walk, schema, changed as JsonValue[]);
  if (typeof changed === "object" && changed !== null) {
    return coerceProperties(walk, schema, changed as Record<string, JsonValue>);
  }
  return changed;
}

function followReference(root: JsonSchema, reference: string): unknown {
  let target = resolveReference(root, reference);
  // `checkSchema` has refused references that never end.
  while (isSchemaObject(target) && typeof target["$ref"] === "string") target = resolveReference(root, target["$ref"]);
  return target;
}

function coerceBranches(walk: Walk, branches: readonly unknown[], value: JsonValue): JsonValue {
  const fitting = branches.find(
    (branch) => isSchemaObject(branch) && wantedTypes(branch).some((type) => isOfType(type, value)),
  );
  if (fitting !== undefined) return coerceValue(walk, fitting, value);
  for (const branch of branches) {
    const before = walk.coerced.length;
    const changed = coerceValue(walk, branch, value);
    if (walk.coerced.length > before) return changed;
  }
  return value;
}

function wantedTypes(schema: JsonSchema): readonly string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? (type as string[]) : [];
}

function isOfType(type: string, value: JsonValue): boolean {
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

function convert(walk: Walk, wanted: readonly string[], value: JsonValue): JsonValue {
  for (const type of wanted) {
    const changed = convertTo(type, value);
    if (changed === undefined) continue;
    walk.coerced.push({ path: toPath(walk.path), from: showValue(value), to: showValue(changed) });
    return changed;
  }
  return value;
}

function convertTo(type: string, value: JsonValue): JsonValue | undefined {
  switch (type) {
    case "number":
      return parseNumber(value);
    case "integer": {
      const number = parseNumber(value);
      return Number.isSafeInteger(number) ? number : undefined;
    }
    case "boolean":
      return parseBoolean(value);
    case "string":
      return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
    case "array":
      return parseContainer(value, "[") ?? (value === null ? undefined : [value]);
    case "object":
      return parseContainer(value, "{");
    default:
      return undefined;
  }
}

function parseNumber(value: JsonValue): number | undefined {
  if (typeof value !== "string" || !/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/u.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function parseBoolean(value: JsonValue): boolean | undefined {
  if (value === 1) return true;
  if (value === 0) return false;
  const word = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (word === "true" || word === "yes") return true;
  return word === "false" || word === "no" ? false : undefined;
}

/** A model sometimes writes a list or an object as the text of it. */
function parseContainer(value: JsonValue, opening: "[" | "{"): JsonValue | undefined {
  if (typeof value !== "string" || !value.trimStart().startsWith(opening) || value.length > 1_000_000) return undefined;
  try {
    // The reviver refuses what `copyJson` would have refused.
    return JSON.parse(value, (key, inner: JsonValue) => {
      if (key === "__proto__") throw new SyntaxError("the key __proto__");
      return inner;
    }) as JsonValue;
  } catch {
    return undefined;
  }
}

function coerceItems(walk: Walk, schema: JsonSchema, items: JsonValue[]): JsonValue {
  const prefix = Array.isArray(schema["prefixItems"]) ? (schema["prefixItems"] as unknown[]) : [];
  for (let index = 0; index < items.length; index++) {
    walk.path.push(index);
    items[index] = coerceValue(walk, prefix[index] ?? schema["items"], items[index] as JsonValue);
    walk.path.pop();
  }
  return items;
}

function coerceProperties(walk: Walk, schema: JsonSchema, value: Record<string, JsonValue>): JsonValue {
  const properties = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  for (const name of Object.keys(properties)) {
    const property = properties[name];
    walk.path.push(name);
    if (
      value[name] === null &&
      Object.hasOwn(value, name) &&
      !required.includes(name) &&
      !acceptsNull(walk.root, property)
    ) {
      walk.coerced.push({ path: toPath(walk.path), from: "null", to: "nothing" });
      delete value[name];
    }
    if (Object.hasOwn(value, name)) value[name] = coerceValue(walk, property, value[name] as JsonValue);
    else if (isSchemaObject(property) && Object.hasOwn(property, "default")) {
      value[name] = structuredClone(property["default"]) as JsonValue;
    }
    walk.path.pop();
  }
  return value;
}

function acceptsNull(root: JsonSchema, schema: unknown): boolean {
  if (!isSchemaObject(schema)) return true;
  if (typeof schema["$ref"] === "string") return acceptsNull(root, followReference(root, schema["$ref"]));
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) return branches.some((branch) => acceptsNull(root, branch));
  if (Array.isArray(schema["enum"])) return schema["enum"].includes(null);
  if ("const" in schema) return schema["const"] === null;
  const wanted = wantedTypes(schema);
  return wanted.length === 0 || wanted.includes("null");
}
