import { simplifyPattern } from "./check-pattern.ts";
import { hasUniqueItems } from "./has-unique-items.ts";
import { inPlaceKeywords, isSchemaObject, resolveReference, schemaPlaces, type JsonSchema } from "./json-schema.ts";

/** Tells whether a value fits the target of a reference. */
export type FitsTarget = (target: unknown, value: unknown) => boolean;

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
