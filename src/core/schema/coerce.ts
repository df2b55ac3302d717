import { cloneJson, maxJsonDepth, showValue, toPath, copyJson, type JsonValue } from "../json.ts";
import type { SchemaEngine } from "./engine.ts";
import {
  isOfType,
  wantedTypes,
  isSchemaObject,
  itemSchema,
  matchingPatterns,
  resolveReference,
  type JsonSchema,
} from "./json-schema.ts";
import { branchesOf, findBranches, rankBranches } from "./rank-branches.ts";

/** One change that made an input fit: models write `"3"` for `3`, one value for a list of one. */
export interface Coercion {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

/** What {@link coerceInput} answers. */
interface Coerced {
  readonly value: JsonValue;
  readonly coerced: readonly Coercion[];
}

/** How many changes are told one by one. */
const mostCoercions = 100;

/**
 * Fills in defaults and makes the lenient changes that models need, each noted: text to number or boolean, number or boolean to
 * text, one value to a list of one, JSON written as text to the list or object it stands for, `null` for something optional to
 * nothing. Changes `value` in place; it must be ours, and at most as deep as JSON may be.
 *
 * Contract: what fits stays as it is, but for defaults. A value that fits none of this stays as it is, for the check to report.
 */
export function coerceInput(schema: JsonSchema, value: JsonValue, engine: SchemaEngine): Coerced {
  const walk: Walk = { root: schema, engine, coerced: [], path: [], count: 0, seen: new Map() };
  const changed = coerceValue(walk, schema, value);
  const more = walk.count - walk.coerced.length;
  if (more > 0) walk.coerced.push({ path: "", from: `${more} more values`, to: "values that fit" });
  return { value: changed, coerced: walk.coerced };
}

interface Walk {
  readonly root: JsonSchema;
  readonly engine: SchemaEngine;
  readonly coerced: Coercion[];
  readonly path: (string | number)[];
  readonly seen: Map<unknown, Set<object>>;
  count: number;
}

function coerceValue(walk: Walk, schema: unknown, value: JsonValue): JsonValue {
  // Lists of one may be put around a value again and again, by a schema that refers to itself.
  if (!isSchemaObject(schema) || walk.path.length > maxJsonDepth) return value;
  let changed = value;
  const reference = schema["$ref"];
  if (typeof reference === "string") changed = coerceTarget(walk, resolveReference(walk.root, reference), changed);
  if (Array.isArray(schema["allOf"])) {
    for (const part of schema["allOf"]) changed = coerceValue(walk, part, changed);
  }
  const branches = branchesOf(schema);
  if (branches !== undefined) changed = coerceBranches(walk, branches, changed);
  changed = coerceType(walk, schema, changed);
  if (Array.isArray(changed)) return coerceItems(walk, schema, changed as JsonValue[]);
  return isContainer(changed) ? coerceProperties(walk, schema, changed as Record<string, JsonValue>) : changed;
}

/** A schema that refers to itself in several ways would otherwise look at the same object again and again. */
function coerceTarget(walk: Walk, target: unknown, value: JsonValue): JsonValue {
  if (!isContainer(value)) return coerceValue(walk, target, value);
  const seen = walk.seen.get(target) ?? new Set();
  walk.seen.set(target, seen);
  if (seen.has(value)) return value;
  seen.add(value);
  return coerceValue(walk, target, value);
}

/** Only when a value is a list or an object can it be told which branch it is meant for: then the branches are asked again. */
function coerceBranches(walk: Walk, branches: readonly unknown[], value: JsonValue): JsonValue {
  const ranked = rankBranches(walk.root, branches, value);
  const likeliest = ranked.find(({ branch }) => walk.engine.fits(branch, value)) ?? ranked[0];
  if (likeliest !== undefined) {
    const changed = coerceTarget(walk, likeliest.branch, value);
    return isContainer(changed) && !isContainer(value) ? coerceBranches(walk, branches, changed) : changed;
  }
  const others = findBranches(walk.root, branches);
  for (const branch of others) {
    for (const type of wantedTypes(branch)) {
      const changed = convertTo(type, value, maxJsonDepth - walk.path.length);
      if (isContainer(changed)) return coerceBranches(walk, branches, note(walk, value, changed));
      if (changed !== undefined && walk.engine.fits(branch, changed)) return note(walk, value, changed);
    }
  }
  const list = others.find((branch) => wantedTypes(branch).includes("array"));
  return list === undefined ? value : wrap(walk, list, value);
}

function isContainer(value: JsonValue | undefined): value is Exclude<JsonValue, null | boolean | number | string> {
  return typeof value === "object" && value !== null;
}

function coerceType(walk: Walk, schema: JsonSchema, value: JsonValue): JsonValue {
  const wanted = wantedTypes(schema);
  if (wanted.length === 0 || wanted.some((type) => isOfType(type, value))) return value;
  for (const type of wanted) {
    const changed = convertTo(type, value, maxJsonDepth - walk.path.length);
    if (changed !== undefined) return note(walk, value, changed);
  }
  return wanted.includes("array") ? wrap(walk, schema, value) : value;
}

/** One value for a list of one, if it fits there. */
function wrap(walk: Walk, schema: JsonSchema, value: JsonValue): JsonValue {
  if (value === null) return value;
  const { count, coerced } = walk;
  const before = coerced.length;
  const inner = itemSchema(schema, 0);
  note(walk, value, [value]);
  walk.path.push(0);
  const item = coerceValue(walk, inner, value);
  walk.path.pop();
  if (walk.engine.fits(inner, item)) return [item];
  walk.count = count;
  coerced.length = before;
  return value;
}

function note<To extends JsonValue | undefined>(walk: Walk, from: JsonValue, to: To): To {
  walk.count += 1;
  if (walk.coerced.length < mostCoercions) {
    walk.coerced.push({ path: toPath(walk.path), from: showValue(from), to: showValue(to) });
  }
  return to;
}

function coerceItems(walk: Walk, schema: JsonSchema, items: JsonValue[]): JsonValue {
  for (let index = 0; index < items.length; index++) {
    walk.path.push(index);
    items[index] = coerceValue(walk, itemSchema(schema, index), items[index] as JsonValue);
    walk.path.pop();
  }
  return items;
}

function coerceProperties(walk: Walk, schema: JsonSchema, value: Record<string, JsonValue>): JsonValue {
  const properties = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  for (const name of Object.keys(properties)) {
    walk.path.push(name);
    coerceProperty(walk, properties[name], { value, name, isRequired: required.includes(name) });
    walk.path.pop();
  }
  const others = schema["additionalProperties"];
  if (!isSchemaObject(others) && schema["patternProperties"] === undefined) return value;
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) continue;
    walk.path.push(name);
    const matching = matchingPatterns(schema, name);
    for (const inner of matching.length > 0 ? matching : [others]) {
      value[name] = coerceValue(walk, inner, value[name] as JsonValue);
    }
    walk.path.pop();
  }
  return value;
}

interface Property {
  readonly value: Record<string, JsonValue>;
  readonly name: string;
  readonly isRequired: boolean;
}

function coerceProperty(walk: Walk, schema: unknown, { value, name, isRequired }: Property): void {
  const preset = findDefault(walk.root, schema);
  const isOptional = !isRequired || preset !== undefined;
  if (isOptional && Object.hasOwn(value, name) && value[name] === null && !walk.engine.fits(schema, null)) {
    note(walk, null, undefined);
    delete value[name];
  }
  const isGiven = Object.hasOwn(value, name);
  if (!isGiven && preset === undefined) return;
  // A default may leave out what has a default of its own.
  value[name] = coerceValue(walk, schema, isGiven ? (value[name] as JsonValue) : cloneJson(preset as JsonValue));
}

/** The default of a schema, or of what it refers to; `undefined` if it has no default. */
function findDefault(root: JsonSchema, schema: unknown): JsonValue | undefined {
  let inner = schema;
  while (isSchemaObject(inner)) {
    if (Object.hasOwn(inner, "default")) return inner["default"] as JsonValue;
    if (typeof inner["$ref"] !== "string") return undefined;
    inner = resolveReference(root, inner["$ref"]);
  }
  return undefined;
}

/** Makes `value` into what a model most likely meant by it, where `type` is wanted; `undefined` if nothing is likely. */
export function convertTo(type: string, value: JsonValue, maxDepth: number): JsonValue | undefined {
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
      return parseContainer(value, "[", maxDepth);
    case "object":
      return parseContainer(value, "{", maxDepth);
    default:
      return undefined;
  }
}

/** No number that a model means is longer. */
const longestNumber = 64;

function parseNumber(value: JsonValue): number | undefined {
  if (typeof value !== "string" || value.length > longestNumber) return undefined;
  if (!/^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/u.test(value)) return undefined;
  const number = Number(value);
  // A long id that would lose its last digits is not a number.
  if (/^\s*[+-]?\d+\s*$/u.test(value) && !Number.isSafeInteger(number)) return undefined;
  return Number.isFinite(number) ? number : undefined;
}

const booleanWords: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false };

function parseBoolean(value: JsonValue): boolean | undefined {
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== "string" || value.length > longestNumber) return undefined;
  const word = value.trim().toLowerCase();
  return Object.hasOwn(booleanWords, word) ? booleanWords[word] : undefined;
}

/** The longest text that is read as a list or an object. */
const longestContainer = 1_000_000;

/** A model sometimes writes a list or an object as the text of it. */
function parseContainer(value: JsonValue, opening: "[" | "{", maxDepth: number): JsonValue | undefined {
  if (typeof value !== "string" || value.length > longestContainer) return undefined;
  if (!value.trimStart().startsWith(opening)) return undefined;
  try {
    // The text went through the check of depth and keys as a text only.
    const copy = copyJson(JSON.parse(value), { maxBytes: longestContainer * 3, maxDepth });
    return copy.ok ? copy.value : undefined;
  } catch {
    return undefined;
  }
}
