import { Check, Compile } from "typebox/schema";

import { simplifyPattern } from "./check-pattern.ts";
import { inPlaceKeywords, isSchemaObject, type JsonSchema, resolveReference, schemaPlaces } from "./json-schema.ts";

/** Holds values against the schemas inside one schema. */
export interface SchemaEngine {
  /**
   * Tells whether `value` fits `schema`, which is the root or a schema inside it. Never throws; takes time in proportion to the
   * sizes of both, also when a schema refers to itself.
   */
  fits(schema: unknown, value: unknown): boolean;
}

type Fits = (value: unknown) => boolean;

/** Makes an engine for `root`. Each schema is made into code at its first use, which costs about a millisecond. */
export function createEngine(root: JsonSchema): SchemaEngine {
  const slow = createSlowEngine(root);
  // A schema with thousands of properties is more than can be made into code.
  return createEngineWith(root, (linked) => toCode(linked) ?? interpret(linked), slow.fits);
}

/** Makes an engine that makes no code: for values that are checked once. */
export function createSlowEngine(root: JsonSchema): SchemaEngine {
  // A text of many megabytes is more than some patterns can hold.
  return createEngineWith(root, interpret, () => false);
}

function toCode(linked: JsonSchema): Fits | undefined {
  try {
    const compiled = Compile(linked);
    return (value) => compiled.Check(value);
  } catch {
    return undefined;
  }
}

function interpret(linked: JsonSchema): Fits {
  return (value) => Check(linked, value);
}

/** Tells whether `value` fits, without making code of the schema: for a value that is checked once. */
export function fitsOnce(schema: JsonSchema, value: unknown): boolean {
  return createSlowEngine(schema).fits(schema, value);
}

/** Makes an engine. `fitsOtherwise` is asked when the stack was not large enough for a schema or a value. */
function createEngineWith(
  root: JsonSchema,
  prepare: (linked: JsonSchema) => Fits,
  fitsOtherwise: SchemaEngine["fits"],
): SchemaEngine {
  const prepared = new Map<JsonSchema, Fits>();
  /** What is known about this check's values. Without it, a schema that refers to itself twice is asked 2, 4, 8, … times. */
  let known = new Map<JsonSchema, Map<unknown, boolean>>();

  function prepareOnce(schema: JsonSchema): Fits {
    let fits = prepared.get(schema);
    if (fits === undefined) {
      fits = prepare(linkSchema(root, schema, fitsTarget));
      prepared.set(schema, fits);
    }
    return fits;
  }

  function fitsTarget(target: unknown, value: unknown): boolean {
    if (!isSchemaObject(target)) return target === true;
    let answers = known.get(target);
    if (answers === undefined) {
      answers = new Map();
      known.set(target, answers);
    }
    const answer = answers.get(value) ?? prepareOnce(target)(value);
    answers.set(value, answer);
    return answer;
  }

  return {
    fits(schema, value) {
      if (!isSchemaObject(schema)) return schema !== false;
      try {
        return prepareOnce(schema)(value);
      } catch (cause) {
        if (cause instanceof RangeError) return fitsOtherwise(schema, value);
        throw cause;
      } finally {
        // Another map: the tables of one that is cleared hold what was in them until the old generation is collected.
        if (known.size > 0) known = new Map();
      }
    },
  };
}

/** Tells whether a value fits the target of a reference. */
type FitsTarget = (target: unknown, value: unknown) => boolean;

/**
 * Makes the schema that the engine gets out of ours: without references, which become questions to `fitsTarget`, and without
 * what the engine gets wrong.
 */
export function linkSchema(root: JsonSchema, schema: JsonSchema, fitsTarget: FitsTarget): JsonSchema {
  return link({ root, fitsTarget }, schema, false);
}

interface Linking {
  readonly root: JsonSchema;
  readonly fitsTarget: FitsTarget;
}

/** Keywords that check nothing, and references, which are linked. */
const leftOut = new Set(["$schema", "$id", "$anchor", "$ref", "$defs", "definitions", "default", "examples"]);

/**
 * Links one schema. `isTracked` tells whether a schema around it, for the same value, asks which properties or items were
 * looked at: then what a reference points at must stand in its place.
 */
function link(linking: Linking, schema: JsonSchema, isTracked: boolean): JsonSchema {
  const tracked = isTracked || "unevaluatedProperties" in schema || "unevaluatedItems" in schema;
  const linked: Record<string, unknown> = {};
  for (const keyword of Object.keys(schema)) {
    if (!leftOut.has(keyword)) {
      linked[keyword] = linkKeyword(linking, keyword, schema[keyword], tracked && inPlaceKeywords.has(keyword));
    }
  }
  const questions: ((value: unknown) => boolean)[] = [];
  linkReference(linking, schema, tracked, { linked, questions });
  // The engine takes microseconds for each item.
  if (linked["uniqueItems"] === true) questions.push(hasUniqueItems);
  delete linked["uniqueItems"];
  moveInheritedNames(linked, questions);
  if (questions.length > 0) linked["~refine"] = questions.map((check) => ({ check, error: () => "" }));
  return linked;
}

function linkKeyword(linking: Linking, keyword: string, value: unknown, isTracked: boolean): unknown {
  if (keyword === "pattern") return typeof value === "string" ? simplifyPattern(value) : value;
  const place = Object.hasOwn(schemaPlaces, keyword) ? schemaPlaces[keyword] : undefined;
  if (place === undefined) return value;
  const inner = (item: unknown): unknown => (isSchemaObject(item) ? link(linking, item, isTracked) : item);
  if (Array.isArray(value)) return value.map(inner);
  if (place !== "map" || !isSchemaObject(value)) return inner(value);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inner(item)]));
}

interface LinkedParts {
  readonly linked: Record<string, unknown>;
  readonly questions: ((value: unknown) => boolean)[];
}

function linkReference(
  linking: Linking,
  schema: JsonSchema,
  isTracked: boolean,
  { linked, questions }: LinkedParts,
): void {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return;
  const target = resolveReference(linking.root, reference);
  if (isTracked && isSchemaObject(target)) {
    const others: unknown[] = Array.isArray(linked["allOf"]) ? linked["allOf"] : [];
    linked["allOf"] = [...others, link(linking, target, true)];
  } else questions.push((value) => linking.fitsTarget(target, value));
}

/** The engine takes what every object inherits for a property of the value: `toString`. These are asked for in other ways. */
function moveInheritedNames(linked: Record<string, unknown>, questions: ((value: unknown) => boolean)[]): void {
  const { properties, required } = linked;
  if (isSchemaObject(properties)) {
    const [inherited, own] = divide(Object.entries(properties), ([name]) => name in Object.prototype);
    if (inherited.length > 0) {
      const patterns = inherited.map(([name, schema]) => [`^${name}$`, schema]);
      linked["properties"] = Object.fromEntries(own);
      linked["patternProperties"] = { ...(linked["patternProperties"] as object), ...Object.fromEntries(patterns) };
    }
  }
  if (Array.isArray(required)) {
    const [inherited, own] = divide(required as string[], (name) => name in Object.prototype);
    if (inherited.length > 0) {
      linked["required"] = own;
      questions.push((value) => !isSchemaObject(value) || inherited.every((name) => Object.hasOwn(value, name)));
    }
  }
}

function divide<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

/** Tells whether no two items of a list are the same JSON; true for everything that is no list. */
export function hasUniqueItems(value: unknown): boolean {
  if (!Array.isArray(value)) return true;
  const simple = new Set<unknown>();
  const containers = new Set<string>();
  for (const item of value as unknown[]) {
    if (typeof item === "object" && item !== null) containers.add(toCanonicalText(item));
    else simple.add(item);
  }
  return simple.size + containers.size === value.length;
}

/** Writes JSON so that two values that are the same have the same text: with the keys in order. */
function toCanonicalText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toCanonicalText).join()}]`;
  const record = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(record).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${toCanonicalText(record[key])}`).join()}}`;
}
