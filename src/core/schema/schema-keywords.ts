import { isSchemaObject } from "./json-schema.ts";

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

/** What the value of each keyword must be; schemas inside are looked at by themselves. */
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

/** Says what the value of a keyword should be; `undefined` if it is right, or if nobody knows the keyword. */
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
