import isSafePattern from "safe-regex2";

import type { Problem } from "../errors.ts";
import { showValue, toPath } from "../json.ts";
import { fitsOnce } from "./engine.ts";
import { innerSchemas, isSchemaObject, resolveReference, type JsonSchema } from "./json-schema.ts";

const types = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** How large a schema may be. Beyond these a schema is an attack or a mistake: it costs more to check than to refuse. */
const limits = { schemas: 5000, depth: 48, choices: 1000, patternLength: 1000 };

const numberKeywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const countKeywords = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const wordKeywords = ["title", "description", "$ref", "$id", "$anchor", "format"];

/** What is wrong with `schema` as a JSON Schema, with paths into it; empty if it can be used. */
export function checkSchema(schema: JsonSchema): Problem[] {
  const check: SchemaCheck = { root: schema, problems: [], count: 0 };
  visit(check, schema, []);
  return check.problems;
}

interface SchemaCheck {
  readonly root: JsonSchema;
  readonly problems: Problem[];
  count: number;
}

type Path = readonly (string | number)[];

function visit(check: SchemaCheck, schema: unknown, path: Path): void {
  if (typeof schema === "boolean") return;
  if (!isSchemaObject(schema)) return report(check, path, "a schema", schema);
  check.count += 1;
  if (check.count === limits.schemas) report(check, path, `at most ${limits.schemas} schemas`, "more");
  if (path.length > limits.depth)
    report(check, path.slice(0, 8), `schemas nested at most ${limits.depth} deep`, "deeper");
  if (check.count >= limits.schemas || path.length > limits.depth) return;
  checkType(check, schema, path);
  checkWords(check, schema, path);
  checkChoices(check, schema, path);
  checkPatterns(check, schema, path);
  checkObject(check, schema, path);
  checkReference(check, schema, path);
  checkDefault(check, schema, path);
  for (const [step, inner] of innerSchemas(schema)) visit(check, inner, [...path, ...step]);
}

function checkType(check: SchemaCheck, schema: JsonSchema, path: Path): void {
  const { type } = schema;
  if (type === undefined) return;
  const named: unknown[] = Array.isArray(type) ? type : [type];
  for (const name of named) {
    if (!types.has(name as string)) report(check, [...path, "type"], `one of ${[...types].join(", ")}`, name);
  }
}

function checkWords(check: SchemaCheck, schema: JsonSchema, path: Path): void {
  const expectations: readonly (readonly [readonly string[], (value: unknown) => boolean, string])[] = [
    [numberKeywords, (value) => typeof value === "number", "a number"],
    [countKeywords, (value) => Number.isInteger(value) && (value as number) >= 0, "a whole number from 0"],
    [wordKeywords, (value) => typeof value === "string", "a text"],
  ];
  for (const [keywords, isRight, expected] of expectations) {
    for (const keyword of keywords) {
      const value = schema[keyword];
      if (value !== undefined && !isRight(value)) report(check, [...path, keyword], expected, value);
    }
  }
  const { multipleOf } = schema;
  if (typeof multipleOf === "number" && multipleOf <= 0) report(check, [...path, "multipleOf"], "above 0", multipleOf);
}

function checkChoices(check: SchemaCheck, schema: JsonSchema, path: Path): void {
  const choices = schema["enum"];
  if (choices === undefined) return;
  if (!Array.isArray(choices) || choices.length === 0) {
    report(check, [...path, "enum"], "a list with at least one value", choices);
  } else if (choices.length > limits.choices) {
    report(check, [...path, "enum"], `at most ${limits.choices} values`, choices);
  }
}

function checkPatterns(check: SchemaCheck, schema: JsonSchema, path: Path): void {
  if (schema["pattern"] !== undefined) checkPattern(check, schema["pattern"], [...path, "pattern"]);
  const byPattern = schema["patternProperties"];
  if (!isSchemaObject(byPattern)) return;
  for (const pattern of Object.keys(byPattern)) checkPattern(check, pattern, [...path, "patternProperties", pattern]);
}

function checkPattern(check: SchemaCheck, pattern: unknown, path: Path): void {
  if (typeof pattern !== "string") return report(check, path, "a regular expression", pattern);
  if (pattern.length > limits.patternLength) {
    return report(check, path, `at most ${limits.patternLength} characters`, pattern);
  }
  try {
    void new RegExp(pattern, "u");
  } catch {
    return report(check, path, "a regular expression", pattern);
  }
  // Patterns are matched on text that a model wrote: one that can take exponential time would hang the process.
  if (!isSafePattern(pattern)) report(check, path, "a pattern without repeats inside repeats", pattern);
}

function checkObject(check: SchemaCheck, schema: JsonSchema, path: Path): void {
  const { properties, required } = schema;
  if (properties !== undefined && !isSchemaObject(properties))
    report(check, [...path, "properties"], "an object", properties);
  if (required === undefined) return;
  if (!Array.isArray(required) || required.some((name) => typeof name !== "string")) {
    return report(check, [...path, "required"], "a list of names", required);
  }
  if (schema["additionalProperties"] !== false || schema["patternProperties"] !== undefined) return;
  const known = isSchemaObject(properties) ? properties : {};
  for (const name of required as string[]) {
    if (!Object.hasOwn(known, name)) report(check, [...path, "required"], "names listed under properties", name);
  }
}

function checkReference(check: SchemaCheck, schema: JsonSchema, path: Path): void {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return;
  const seen = new Set<unknown>([schema]);
  let target = resolveReference(check.root, reference);
  if (target === undefined)
    report(check, [...path, "$ref"], "a reference inside this schema that points at something", reference);
  // A reference that only leads back to itself never says anything, and would be followed for ever.
  while (isSchemaObject(target) && typeof target["$ref"] === "string" && !seen.has(target)) {
    seen.add(target);
    target = resolveReference(check.root, target["$ref"]);
  }
  if (isSchemaObject(target) && seen.has(target))
    report(check, [...path, "$ref"], "a reference that ends somewhere", reference);
}

function checkDefault(check: SchemaCheck, schema: JsonSchema, path: Path): void {
  if (!Object.hasOwn(schema, "default") || check.problems.length > 0 || usesReference(schema)) return;
  if (!fitsOnce(schema, schema["default"]))
    report(check, [...path, "default"], "a value that fits the schema", schema["default"]);
}

function usesReference(schema: unknown): boolean {
  if (!isSchemaObject(schema)) return false;
  if (schema["$ref"] !== undefined || schema["$dynamicRef"] !== undefined) return true;
  return innerSchemas(schema).some(([, inner]) => usesReference(inner));
}

function report(check: SchemaCheck, path: Path, expected: string, found: unknown): void {
  check.problems.push({ path: toPath(path), expected, found: showValue(found) });
}
