import type fastCheck from "fast-check";
import type { Arbitrary } from "fast-check";

import { isSchemaObject, resolveReference, type JsonSchema } from "../../core/schema/json-schema.ts";

type FastCheck = typeof fastCheck;

/** Makes values that a schema describes. */
export interface Arbitraries {
  ofSchema(schema: unknown, depth?: number): Arbitrary<unknown>;
}

/** Schemas that refer to themselves end somewhere. */
const deepest = 6;

/** Makes a generator of values for the schemas inside `root`. It may miss rules that overlap: validate the values with the schema. */
export function createArbitraries(fc: FastCheck, root: JsonSchema): Arbitraries {
  function ofSchema(schema: unknown, depth = 0): Arbitrary<unknown> {
    if (!isSchemaObject(schema) || depth > deepest) return fc.constantFrom(null, true, 0, "");
    if ("const" in schema) return fc.constant(schema["const"]);
    if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
    if (typeof schema["$ref"] === "string") return ofSchema(resolveReference(root, schema["$ref"]), depth + 1);
    const branches = schema["anyOf"] ?? schema["oneOf"];
    if (Array.isArray(branches)) {
      const { anyOf: _, oneOf: __, ...common } = schema;
      return fc.oneof(...branches.map((branch) => ofSchema(merge(common, branch), depth + 1)));
    }
    if (Array.isArray(schema["allOf"])) {
      const { allOf, ...common } = schema;
      return ofSchema((allOf as unknown[]).reduce<JsonSchema>(merge, common), depth + 1);
    }
    return ofType(schema, depth);
  }

  function ofType(schema: JsonSchema, depth: number): Arbitrary<unknown> {
    const { type } = schema;
    if (Array.isArray(type)) return fc.oneof(...type.map((one) => ofType({ ...schema, type: one as unknown }, depth)));
    if (type === "object" || "properties" in schema) return ofObject(schema, depth);
    if (type === "array") return ofArray(schema, depth);
    if (type === "string") return ofText(fc, schema);
    if (type === "integer" || type === "number") return ofNumber(fc, schema, type === "integer");
    if (type === "boolean") return fc.boolean();
    if (type === "null") return fc.constant(null);
    return fc.jsonValue({ maxDepth: 2 });
  }

  function ofObject(schema: JsonSchema, depth: number): Arbitrary<unknown> {
    const properties = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
    const names = Object.keys(properties).filter((name) => name !== "__proto__");
    const required = (Array.isArray(schema["required"]) ? schema["required"] : []) as readonly string[];
    // What lies too deep is left out where it may be.
    const shown = depth < deepest ? names : names.filter((name) => required.includes(name));
    const model = Object.fromEntries(shown.map((name) => [name, ofSchema(properties[name], depth + 1)]));
    return fc.record(model, { requiredKeys: shown.filter((name) => required.includes(name)), noNullPrototype: true });
  }

  function ofArray(schema: JsonSchema, depth: number): Arbitrary<unknown> {
    const { prefixItems, items = {}, minItems = 0, maxItems } = schema;
    if (Array.isArray(prefixItems)) return fc.tuple(...prefixItems.map((item) => ofSchema(item, depth + 1)));
    const least = Number(minItems);
    const most = Math.min(maxItems === undefined ? Infinity : Number(maxItems), least + (depth < deepest ? 4 : 0));
    const limits = { minLength: least, maxLength: Math.max(least, most) };
    const item = ofSchema(items, depth + 1);
    const key = (value: unknown): string => JSON.stringify(value);
    return schema["uniqueItems"] === true ? fc.uniqueArray(item, { ...limits, selector: key }) : fc.array(item, limits);
  }

  return { ofSchema };
}

function merge(schema: JsonSchema, other: unknown): JsonSchema {
  if (!isSchemaObject(other)) return schema;
  const properties = { ...(schema["properties"] as object), ...(other["properties"] as object) };
  const required = [...listOf(schema["required"]), ...listOf(other["required"])];
  return {
    ...schema,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function ofText(fc: FastCheck, schema: JsonSchema): Arbitrary<unknown> {
  const formatted = ofFormat(fc, schema["format"]);
  if (formatted !== undefined) return formatted;
  const { pattern, minLength = 0, maxLength } = schema;
  const least = Number(minLength);
  const limits = { minLength: least, ...(maxLength !== undefined && { maxLength: Number(maxLength) }) };
  const odd = fc.constantFrom(
    "",
    " ",
    "-",
    "--help",
    "../x",
    "ä€😀",
    "a\nb",
    '"',
    "'",
    "\\",
    "%s",
    "$(id)",
    "0",
    "null",
  );
  const fitting = odd.filter((text) => text.length >= least && text.length <= (limits.maxLength ?? Infinity));
  if (typeof pattern === "string") return ofPattern(fc, pattern);
  const plain = fc.string({ ...limits, unit: "grapheme" });
  return least === 0 && limits.maxLength === undefined ? fc.oneof(plain, fitting) : plain;
}

function ofPattern(fc: FastCheck, pattern: string): Arbitrary<unknown> {
  try {
    return fc.stringMatching(new RegExp(pattern, "u"));
  } catch {
    return fc.string();
  }
}

function ofFormat(fc: FastCheck, format: unknown): Arbitrary<unknown> | undefined {
  const date = fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true });
  const formats: Readonly<Record<string, () => Arbitrary<unknown>>> = {
    date: () => date.map((value) => value.toISOString().slice(0, 10)),
    "date-time": () => date.map((value) => value.toISOString()),
    time: () => date.map((value) => value.toISOString().slice(11)),
    email: () => fc.emailAddress(),
    uri: () => fc.webUrl(),
    uuid: () => fc.uuid(),
    ipv4: () => fc.ipV4(),
    ipv6: () => fc.ipV6(),
    hostname: () => fc.domain(),
  };
  return typeof format === "string" && Object.hasOwn(formats, format) ? formats[format]?.() : undefined;
}

function ofNumber(fc: FastCheck, schema: JsonSchema, isInteger: boolean): Arbitrary<unknown> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const step = isInteger ? 1 : 1e-6;
  const least = Math.max(toNumber(minimum, -1e9), toNumber(exclusiveMinimum, -1e9 - step) + step);
  const most = Math.max(least, Math.min(toNumber(maximum, 1e9), toNumber(exclusiveMaximum, 1e9 + step) - step));
  if (typeof multipleOf === "number") {
    const [from, to] = [Math.ceil(least / multipleOf), Math.floor(most / multipleOf)];
    return fc.integer({ min: from, max: Math.max(from, to) }).map((count) => count * multipleOf);
  }
  const limits = { min: least, max: most };
  return isInteger
    ? fc.integer({ min: Math.ceil(least), max: Math.max(Math.ceil(least), Math.floor(most)) })
    : fc.double({ ...limits, noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
}

function toNumber(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
