import fc from "fast-check";
import { expect, test } from "vitest";

import { copyJson, maxJsonDepth, type JsonValue } from "../json.ts";
import { checkSchema } from "./check-schema.ts";
import { closeSchema } from "./close-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { checkLeniently, checkStrictly } from "./validator.ts";

const search: JsonSchema = {
  type: "object",
  properties: { query: { type: "string" }, limit: { type: "integer", default: 10, maximum: 100 } },
  required: ["query"],
  additionalProperties: false,
};

test("checkLeniently() takes a value that fits as it is", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const value = { a: "b" };

  const checked = checkLeniently(schema, value);

  expect(checked).toEqual({ ok: true, value: { a: "b" }, coerced: [] });
  expect(checked.ok && checked.value).toBe(value);
});

test("checkLeniently() fills in defaults and puts right what models get wrong", () => {
  expect(checkLeniently(search, { query: "a" })).toEqual({ ok: true, value: { query: "a", limit: 10 }, coerced: [] });
  expect(checkLeniently(search, { query: 5, limit: "20" })).toEqual({
    ok: true,
    value: { query: "5", limit: 20 },
    coerced: [
      { path: "query", from: "5", to: '"5"' },
      { path: "limit", from: '"20"', to: "20" },
    ],
  });
});

test("checkLeniently() says everything that is wrong after that", () => {
  expect(checkLeniently(search, { limit: "200", qurey: "a" })).toEqual({
    ok: false,
    problems: [
      { path: "query", expected: "a string", found: "nothing" },
      { path: "limit", expected: "at most 100", found: "200" },
      { path: "qurey", expected: "only query, limit", found: "an unknown parameter", didYouMean: "query" },
    ],
  });
});

test("checkStrictly() changes nothing and forgives nothing", () => {
  const value = { query: "a", limit: "20" };

  expect(checkStrictly(search, { query: "a" })).toEqual([]);
  expect(checkStrictly(search, value)).toEqual([{ path: "limit", expected: "a whole number", found: '"20"' }]);
  expect(value).toEqual({ query: "a", limit: "20" });
});

test("checkLeniently() never changes a value that fits, but for defaults", () => {
  fc.assert(
    fc.property(schemaAndValue(), ({ schema, value }) => {
      const checked = checkLeniently(schema, structuredClone(value));

      expect(checked).toMatchObject({ ok: true, coerced: [] });
      if (checked.ok) expect(withoutDefaults(checked.value)).toEqual(value);
    }),
    { numRuns: 300 },
  );
});

test("checkLeniently() answers with a value that fits to the letter, and that it would not change again", () => {
  let repaired = 0;
  fc.assert(
    fc.property(schemaAndValue(), otherValue(), ({ schema, value }, change) => {
      const checked = checkLeniently(schema, copy(change(value)));

      if (!checked.ok) return;
      if (checked.coerced.length > 0) repaired += 1;
      expect(checkStrictly(schema, checked.value)).toEqual([]);
      expect(checkLeniently(schema, structuredClone(checked.value))).toEqual({ ...checked, coerced: [] });
    }),
    { numRuns: 300 },
  );

  expect(repaired).toBeGreaterThan(5);
});

test("checkLeniently() never throws, and tells at least one problem with a value that does not fit", () => {
  let refused = 0;
  fc.assert(
    fc.property(schemaAndValue(), otherValue(), ({ schema, value }, change) => {
      const checked = checkLeniently(schema, copy(change(value)));

      if (checked.ok) return;
      refused += 1;
      expect(checked.problems.length).toBeGreaterThan(0);
      expect(checked.problems.length).toBeLessThanOrEqual(50);
      expect(checked.problems.filter(({ expected, found }) => expected === "" || found === "")).toEqual([]);
      expect(new Set(checked.problems.map(({ path }) => path)).size).toBe(checked.problems.length);
    }),
    { numRuns: 300 },
  );

  expect(refused).toBeGreaterThan(50);
});

test("checkSchema() takes every schema of the tests above, also closed", () => {
  fc.assert(
    fc.property(schemaAndValue(), ({ schema }) => {
      expect(checkSchema(closeSchema(structuredClone(schema)))).toEqual([]);
    }),
  );
});

/** A schema, and a value that fits it; with what it refers to. */
interface Fitting {
  readonly schema: JsonSchema;
  readonly value: JsonValue;
  readonly $defs: Readonly<Record<string, JsonSchema>>;
}

/** The key of every default, so that defaults can be told from what was given. */
const preset = "preset";

function schemaAndValue(): fc.Arbitrary<Fitting> {
  const { fitting } = fc.letrec<{ fitting: Fitting }>((tie) => ({
    fitting: fc.oneof(
      { maxDepth: 3, depthSize: "medium" },
      simple(),
      listOf(tie("fitting")),
      tupleOf(tie("fitting")),
      objectOf(tie("fitting")),
      recordOf(tie("fitting")),
      fc.tuple(tie("fitting"), tie("fitting"), fc.boolean()).map(([one, other, isFirst]) => {
        const branches = isFirst ? [one.schema, other.schema] : [other.schema, one.schema];
        return { ...one, schema: { anyOf: branches }, $defs: { ...one.$defs, ...other.$defs } };
      }),
      tie("fitting").map((one) => ({ ...one, schema: { allOf: [one.schema, {}] } })),
      fc.tuple(tie("fitting"), fc.uuid()).map(([one, id]) => ({
        value: one.value,
        schema: { $ref: `#/$defs/${id}` },
        $defs: { ...one.$defs, [id]: one.schema },
      })),
    ),
  }));
  return fitting.map((one) => ({ ...one, schema: { ...one.schema, $defs: one.$defs } }));
}

function simple(): fc.Arbitrary<Fitting> {
  const number = fc.oneof(
    fc.integer({ min: -20, max: 20 }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -5, max: 5 }),
  );
  const text = fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom("1", "true", "[1]", '{"a":1}', "", "null"));
  return fc.oneof(
    text.map((value) => fit({ type: "string", maxLength: 5 + value.length }, value)),
    text.map((value) => fit({ enum: [value, "other", 1] }, value)),
    number.map((value) => fit({ type: "number", maximum: Math.max(value, 5) }, value === 0 ? 0 : value)),
    fc.integer({ min: -20, max: 20 }).map((value) => fit({ type: "integer", minimum: value - 1 }, value)),
    fc.boolean().map((value) => fit({ type: "boolean" }, value)),
    fc.boolean().map((value) => fit({ type: ["boolean", "null"] }, value ? null : true)),
    text.map((value) => fit({ const: value }, value)),
    fc.constant(fit({ type: "null" }, null)),
    text.map((value) => fit({}, value)),
  );
}

function fit(schema: JsonSchema, value: JsonValue): Fitting {
  return { schema, value, $defs: {} };
}

function listOf(inner: fc.Arbitrary<Fitting>): fc.Arbitrary<Fitting> {
  return fc.array(inner, { minLength: 1, maxLength: 3 }).map((parts) => {
    const schemas = parts.map((part) => part.schema);
    const items = schemas.length === 1 ? schemas[0] : { anyOf: schemas };
    return {
      schema: { type: "array", items, minItems: 1 },
      value: parts.map((part) => part.value),
      $defs: join(parts),
    };
  });
}

function tupleOf(inner: fc.Arbitrary<Fitting>): fc.Arbitrary<Fitting> {
  return fc.tuple(fc.array(inner, { minLength: 1, maxLength: 3 }), fc.boolean()).map(([parts, isDraft7]) => {
    const schemas = parts.map((part) => part.schema);
    const schema = isDraft7
      ? { type: "array", items: schemas, additionalItems: false }
      : { type: "array", prefixItems: schemas };
    return { schema, value: parts.map((part) => part.value), $defs: join(parts) };
  });
}

const names = ["a", "b", "c", "toString", "constructor", "odd name", "1"];

function objectOf(inner: fc.Arbitrary<Fitting>): fc.Arbitrary<Fitting> {
  const use = fc.constantFrom("required", "given", "missing");
  const properties = fc.dictionary(fc.constantFrom(...names), fc.tuple(inner, use), {
    maxKeys: 4,
    noNullPrototype: true,
  });
  return fc.tuple(properties, fc.boolean(), fc.boolean()).map(([parts, isClosed, hasPreset]) => {
    const entries = Object.entries(parts);
    const given = entries.filter(([, [, use]]) => use !== "missing");
    return {
      schema: {
        type: "object",
        properties: {
          ...Object.fromEntries(entries.map(([name, [part]]) => [name, part.schema])),
          ...(hasPreset && { [preset]: { type: "string", default: preset } }),
        },
        required: entries.filter(([, [, use]]) => use === "required").map(([name]) => name),
        ...(isClosed && { additionalProperties: false }),
      },
      value: Object.fromEntries(given.map(([name, [part]]) => [name, part.value])),
      $defs: join(entries.map(([, [part]]) => part)),
    };
  });
}

function recordOf(inner: fc.Arbitrary<Fitting>): fc.Arbitrary<Fitting> {
  return fc.tuple(inner, fc.subarray(names)).map(([part, keys]) => ({
    schema: { type: "object", additionalProperties: part.schema, propertyNames: { maxLength: 20 } },
    value: Object.fromEntries(keys.map((key) => [key, structuredClone(part.value)])),
    $defs: part.$defs,
  }));
}

function join(parts: readonly Fitting[]): Readonly<Record<string, JsonSchema>> {
  return Object.assign({}, ...parts.map((part) => part.$defs)) as Record<string, JsonSchema>;
}

/** Makes another value out of one: something else, or the same with texts for numbers and the like. */
function otherValue(): fc.Arbitrary<(value: JsonValue) => unknown> {
  return fc.oneof(
    fc.jsonValue({ maxDepth: 3 }).map((other) => () => other),
    fc.infiniteStream(fc.nat({ max: 5 })).map((choices) => (value: JsonValue) => disturb(value, choices)),
  );
}

function disturb(value: JsonValue, choices: fc.Stream<number>): unknown {
  const choice = Number(choices.next().value);
  if (choice === 0) return typeof value === "string" ? Number(value) || value : JSON.stringify(value);
  if (choice === 1) return Array.isArray(value) && value.length === 1 ? (value as JsonValue[])[0] : null;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => disturb(item, choices));
  const entries = Object.entries(value).map(([key, item]) => [choice === 2 ? `${key}x` : key, disturb(item, choices)]);
  return Object.fromEntries(entries);
}

function withoutDefaults(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutDefaults(item));
  const entries = Object.entries(value).filter(([key, item]) => key !== preset || item !== preset);
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutDefaults(item)]));
}

/** What a tool is given was copied before. */
function copy(value: unknown): JsonValue {
  const copied = copyJson(value, { maxBytes: 1_000_000, maxDepth: maxJsonDepth });
  return copied.ok ? copied.value : null;
}
