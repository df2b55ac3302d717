import { isSchemaObject, resolveReference, type JsonSchema } from "../../core/schema/json-schema.ts";
import type { JsonValue } from "../../core/json.ts";

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

/** Writes the name of a parameter as a flag: `maxItems` and `max_items` are `max-items`. */
function toFlagName(parameter: string): string {
  return parameter
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/gu, "-")
    .replaceAll(/[_\s]+/gu, "-")
    .toLowerCase();
}

/** The one parameter that a flag means: the name itself, or else the only one that is written like this as a flag. */
export function findParameter(flag: string, parameters: Iterable<string>): string | undefined {
  const names = [...parameters];
  if (names.includes(flag)) return flag;
  const wanted = toFlagName(flag);
  const matches = names.filter((name) => toFlagName(name) === wanted);
  return matches.length === 1 ? matches[0] : undefined;
}

/** The flags for parameters, each as short as it can be without meaning two. */
export function toFlagNames(parameters: Iterable<string>): ReadonlyMap<string, string> {
  const names = [...parameters];
  return new Map(
    names.map((name) => [name, findParameter(toFlagName(name), names) === name ? toFlagName(name) : name]),
  );
}

/**
 * The value that a text of the command line stands for where `schema` is wanted: `3` is a number for a number and a text for a
 * text. A text that stands for nothing of the kind stays text, for the check of the call to report.
 */
export function fromText(root: JsonSchema, schema: JsonSchema, text: string): JsonValue {
  const choices = getChoices(root, schema);
  const types = getTypes(root, schema);
  if (choices.includes(text)) return text;
  const choice = choices.find((candidate) => isSimple(candidate) && String(candidate) === text);
  if (choice !== undefined) return choice as JsonValue;
  if (types.size === 0) return parseAnything(text);
  for (const type of types) {
    const value = fromTextAs(type, text);
    // Where text is welcome too, a number must look exactly like one: 007 is a name.
    if (value !== undefined && (!types.has("string") || isExact(value, text))) return value;
  }
  return text;
}

function isSimple(value: unknown): boolean {
  return value === null || typeof value === "number" || typeof value === "boolean";
}

function isExact(value: JsonValue, text: string): boolean {
  return typeof value === "object" ? value !== null : String(value) === text;
}

function fromTextAs(type: string, text: string): JsonValue | undefined {
  switch (type) {
    case "number":
    case "integer":
      return parseNumber(text);
    case "boolean":
      return text === "true" || text === "false" ? text === "true" : undefined;
    case "null":
      return text === "null" ? null : undefined;
    case "array":
      return parseContainer(text, "[");
    case "object":
      return parseContainer(text, "{");
    default:
      return undefined;
  }
}

function parseNumber(text: string): number | undefined {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u.test(text)) return undefined;
  const number = Number(text);
  // A number that would not be the one that was written stays text, and is reported.
  const isSafe = Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
  return isSafe ? number : undefined;
}

function parseContainer(text: string, opening: "[" | "{"): JsonValue | undefined {
  return text.trimStart().startsWith(opening) ? parseJson(text) : undefined;
}

function parseAnything(text: string): JsonValue {
  const value = /^\s*(?:[[{"\d-]|true|false|null)/u.test(text) ? parseJson(text) : undefined;
  return typeof value === "number" && String(value) !== text ? text : (value ?? (text === "null" ? null : text));
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
