import type { Problem } from "../errors.ts";
import { showValue, toPath } from "../json.ts";
import { checkPattern } from "./check-pattern.ts";
import { createSlowEngine } from "./engine.ts";
import { innerSchemas, inPlaceKeywords, isSchemaObject, type JsonSchema, resolveReference } from "./json-schema.ts";

/** How large a schema may be. Beyond these a schema is an attack or a mistake: it costs more to check than to refuse. */
const limits = { schemas: 5000, schemasForOneValue: 1000 };

/**
 * What is wrong with `schema` as a JSON Schema, with paths into it; empty if it can be used: checking a value against it ends,
 * in time in proportion to both.
 */
export function checkSchema(schema: JsonSchema): Problem[] {
  const check: SchemaCheck = { root: schema, problems: [], places: new Map(), sizes: new Map() };
  visit(check, schema, []);
  if (check.problems.length === 0) for (const [inner, path] of check.places) checkReference(check, inner, path);
  if (check.problems.length === 0) checkSizes(check);
  if (check.problems.length === 0) checkDefaults(check);
  return check.problems;
}

interface SchemaCheck {
  readonly root: JsonSchema;
  readonly problems: Problem[];
  /** Every schema there is, and where. */
  readonly places: Map<JsonSchema, Path>;
  /** How many schemas each one holds against the same value; 0 while that is being counted. */
  readonly sizes: Map<JsonSchema, number>;
}

type Path = readonly (string | number)[];

function visit(check: SchemaCheck, schema: unknown, path: Path): void {
  if (typeof schema === "boolean" || check.places.size > limits.schemas) return;
  if (!isSchemaObject(schema)) return report(check, path, "a schema", schema);
  check.places.set(schema, path);
  if (check.places.size > limits.schemas) return report(check, [], `at most ${limits.schemas} schemas`, "more");
  for (const keyword of Object.keys(schema)) {
    const expected = checkKeyword(keyword, schema[keyword], path.length === 0);
    if (expected !== undefined) report(check, [...path, keyword], expected, schema[keyword]);
  }
  checkPatterns(check, schema, path);
  checkRequired(check, schema, path);
  for (const [step, inner] of innerSchemas(schema)) visit(check, inner, [...path, ...step]);
}

function checkPatterns(check: SchemaCheck, schema: JsonSchema, path: Path): void {
  const { pattern, patternProperties } = schema;
  const names = isSchemaObject(patternProperties) ? Object.keys(patternProperties) : [];
  const found: [string, Path][] = names.map((name) => [name, [...path, "patternProperties", name]]);
  if (typeof pattern === "string") found.push([pattern, [...path, "pattern"]]);
  for (const [text, place] of found) {
    const expected = checkPattern(text);
    if (expected !== undefined) report(check, place, expected, text);
  }
}

/** In an object that takes no others, a required property that is not listed could never be there. */
function checkRequired(check: SchemaCheck, schema: JsonSchema, path: Path): void {
  const { properties = {}, required } = schema;
  const isClosed = schema["additionalProperties"] === false && schema["patternProperties"] === undefined;
  if (!isClosed || !Array.isArray(required) || !isSchemaObject(properties)) return;
  for (const name of required as unknown[]) {
    if (typeof name !== "string" || Object.hasOwn(properties, name)) continue;
    report(check, [...path, "required"], "names listed under properties", name);
  }
}

function checkReference(check: SchemaCheck, schema: JsonSchema, path: Path): void {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return;
  const target = resolveReference(check.root, reference);
  // Something that only looks like a schema, inside a default say, was not checked.
  const isFound = typeof target === "boolean" || (isSchemaObject(target) && check.places.has(target));
  if (!isFound) report(check, [...path, "$ref"], "a reference to a schema inside this one", reference);
}

/** Finds schemas that come back to themselves for the same value, which would never end, and those that take too long. */
function checkSizes(check: SchemaCheck): void {
  for (const [schema, path] of check.places) {
    const size = measure(check, schema);
    if (size === Infinity)
      return report(check, path, "a schema that does not refer to itself for the same value", "one");
    if (size > limits.schemasForOneValue) {
      return report(check, path, `at most ${limits.schemasForOneValue} schemas for one value`, "more");
    }
  }
}

function measure(check: SchemaCheck, schema: JsonSchema): number {
  const known = check.sizes.get(schema);
  if (known !== undefined) return known === 0 ? Infinity : known;
  check.sizes.set(schema, 0);
  const inPlace = [...innerSchemas(schema)].filter(([[keyword]]) => inPlaceKeywords.has(keyword));
  const inner = inPlace.map(([, one]) => one);
  if (typeof schema["$ref"] === "string") inner.push(resolveReference(check.root, schema["$ref"]));
  const size = inner.filter(isSchemaObject).reduce((sum, one) => sum + measure(check, one), 1);
  check.sizes.set(schema, size);
  return size;
}

function checkDefaults(check: SchemaCheck): void {
  const engine = createSlowEngine(check.root);
  for (const [schema, path] of check.places) {
    if (!Object.hasOwn(schema, "default") || engine.fits(schema, schema["default"])) continue;
    report(check, [...path, "default"], "a value that fits the schema", schema["default"]);
  }
}

function report(check: SchemaCheck, path: Path, expected: string, found: unknown): void {
  check.problems.push({ path: toPath(path), expected, found: showValue(found) });
}

const types = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** The longest `enum` there may be: a check looks at each value. */
const mostChoices = 1000;

interface Expectation {
  readonly expected: string;
  isRight(value: unknown): boolean;
}

const number: Expectation = { expected: "a number", isRight: (value) => typeof value === "number" };
const count: Expectation = {
  expected: "a whole number from 0",
  isRight: (value) => Number.isInteger(value) && (value as number) >= 0,
};
const text: Expectation = { expected: "a text", isRight: (value) => typeof value === "string" };
const flag: Expectation = { expected: "true or false", isRight: (value) => typeof value === "boolean" };
const map: Expectation = { expected: "an object", isRight: isSchemaObject };
const list: Expectation = {
  expected: "a list with at least one schema",
  isRight: (value) => Array.isArray(value) && value.length > 0,
};
const names: Expectation = { expected: "a list of names", isRight: isNameList };

/** What the value of each keyword must be; schemas inside are checked by themselves. */
const keywords: Readonly<Record<string, Expectation>> = {
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: { expected: "a number above 0", isRight: (value) => typeof value === "number" && value > 0 },
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minContains: count,
  maxContains: count,
  minProperties: count,
  maxProperties: count,
  $anchor: text,
  $ref: text,
  description: text,
  format: text,
  pattern: text,
  title: text,
  uniqueItems: flag,
  $defs: map,
  definitions: map,
  dependencies: map,
  dependentSchemas: map,
  patternProperties: map,
  properties: map,
  allOf: list,
  anyOf: list,
  oneOf: list,
  prefixItems: list,
  required: names,
  dependentRequired: {
    expected: "an object of lists of names",
    isRight: (value) => isSchemaObject(value) && Object.values(value).every(isNameList),
  },
  enum: {
    expected: `a list of 1 to ${mostChoices} values`,
    isRight: (value) => Array.isArray(value) && value.length > 0 && value.length <= mostChoices,
  },
  type: { expected: `one of ${types.join(", ")}, or a list of them`, isRight: isType },
};

/** Keywords by which a schema means another than it says; nothing but the engine would follow them. */
const otherReferences = new Set(["$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef"]);

/** Says what the value of a keyword should be; `undefined` if it is right, or if the keyword is unknown. */
export function checkKeyword(keyword: string, value: unknown, isRoot: boolean): string | undefined {
  if (otherReferences.has(keyword)) return "a $ref instead";
  if (keyword === "$id") return isRoot ? undefined : "no $id inside a schema, but a $ref like #/$defs/name";
  const expectation = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
  return expectation === undefined || expectation.isRight(value) ? undefined : expectation.expected;
}

function isNameList(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function isType(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((name) => types.includes(name as string));
  return types.includes(value as string);
}
