import fc from "fast-check";
import { expect, test } from "vitest";

import { isKitbagError } from "../../core/errors.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { applySettings, parseFlags } from "./parse-flags.ts";

test.for([
  ["--count 3", { count: 3 }],
  ["--count=3", { count: 3 }],
  ["--count -3", { count: -3 }],
  ["--ratio .5", { ratio: 0.5 }],
  ["--ratio 1e3", { ratio: 1000 }],
  ["--text 3", { text: "3" }],
  ["--text=", { text: "" }],
  ["--text=--count", { text: "--count" }],
  ["--text a=b", { text: "a=b" }],
  ["--text=a=b", { text: "a=b" }],
  ["--text -", { text: "-" }],
  ["--verbose", { verbose: true }],
  ["--no-verbose", { verbose: false }],
  ["--verbose=false", { verbose: false }],
  ["--verbose --count 3", { verbose: true, count: 3 }],
  ["--tags a --tags b", { tags: ["a", "b"] }],
  ["--tags a", { tags: ["a"] }],
  ['--tags ["a","b"]', { tags: ["a", "b"] }],
  ['--tags ["a"] --tags b', { tags: ["a", "b"] }],
  ["--tags [draft]", { tags: ["[draft]"] }],
  ["--numbers 1 --numbers 2", { numbers: [1, 2] }],
  ['--rows {"size":1} --rows {"size":2}', { rows: [{ size: 1 }, { size: 2 }] }],
  ["--one-or-many a", { oneOrMany: "a" }],
  ["--one-or-many a --one-or-many b", { oneOrMany: ["a", "b"] }],
  ["--filter.size 3 --filter.deep.on", { filter: { size: 3, deep: { on: true } } }],
  ["--no-filter.deep.on", { filter: { deep: { on: false } } }],
  ['--filter.size 3 --filter {"size":1,"name":"x"}', { filter: { size: 3, name: "x" } }],
  ["--labels.colour red --labels.007 bond", { labels: { colour: "red", "007": "bond" } }],
  ["--max-items 3", { maxItems: 3 }],
  ["--maxItems 3", { maxItems: 3 }],
  ["--max_items 3", { maxItems: 3 }],
  ["--user-name x", { user_name: "x" }],
  ["--same-name x", { "same-name": "x" }],
  ["--sameName y", { sameName: "y" }],
  ["--a.b x", { "a.b": "x" }],
  ["--no-smoking", { noSmoking: true }],
  ["--level 2", { level: 2 }],
  ["--level high", { level: "high" }],
  ["--id 7", { id: 7 }],
  ["--id 007", { id: "007" }],
  ["--maybe null", { maybe: null }],
  ["--name null", { name: "null" }],
  ["--any 3", { any: 3 }],
  ["--any 3.0", { any: "3.0" }],
  ["--any null", { any: null }],
  ["--any true", { any: true }],
  ['--any {"x":[1]}', { any: { x: [1] } }],
  ["--any hello", { any: "hello" }],
  ["--tree.child.child.value 3", { tree: { child: { child: { value: 3 } } } }],
  ["--shape.radius 3", { shape: { radius: 3 } }],
] as const)("parseFlags() reads %s", ([line, expected]) => {
  const input = applySettings({}, parseFlags(schema, line.split(" ")));

  expect(input).toEqual(expected);
});

test.for([
  ["--count x", { count: "x" }],
  ["--count NaN", { count: "NaN" }],
  ["--ratio Infinity", { ratio: "Infinity" }],
  ["--ratio 1e999", { ratio: "1e999" }],
  ["--count 0x10", { count: "0x10" }],
  ["--count 12345678901234567890", { count: "12345678901234567890" }],
  ["--verbose=maybe", { verbose: "maybe" }],
] as const)("parseFlags() leaves %s to the check of the call", ([line, expected]) => {
  const input = applySettings({}, parseFlags(schema, line.split(" ")));

  expect(input).toEqual(expected);
});

test("parseFlags() says that JSON is broken where only an object is taken", () => {
  expect(() => parseFlags(schema, ["--filter", "{broken"])).toThrow("Cannot use --filter: expected JSON, found ");
});

test("parseFlags() names flags as a person types them, and those of the schema itself before those inside", () => {
  const inner = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`part${index}`, { type: "string" }]));
  const wide = {
    type: "object",
    properties: { input: { type: "object", properties: inner }, code: { type: "string" } },
    additionalProperties: false,
  };
  const options = {
    alsoKnown: ["--input"],
    showFlag: (flag: string): string => flag.replace(/^--input/u, "--input-schema"),
  };

  expect(() => parseFlags(wide, ["--inputt", "x"], options)).toThrow("did you mean --input-schema or --input?");
  expect(() => parseFlags(wide, ["--zzz", "x"], options)).toThrow(
    /its flags are --input-schema, --code, --input-schema\.part0, .*, and 7 more$/u,
  );
  expect(() => parseFlags(wide, ["--input", "{"], options)).toThrow("Cannot use --input-schema: expected JSON");
});

test.for([
  [["--cuont", "3"], 'Cannot use "--cuont": the tool has no such parameter; did you mean --count?'],
  [["--jsn"], 'Cannot use "--jsn": the tool has no such parameter; did you mean --json?'],
  [["--filter.sise", "3"], "did you mean --filter.size?"],
  [["--no-verbos"], "did you mean --verbose?"],
  [["--zzzzzzzzz", "3"], "its flags are --count, --ratio, --text"],
  [["--__proto__", "3"], "no such parameter"],
  [["--__proto__.polluted", "3"], "no such parameter"],
  [["--constructor", "3"], "no such parameter"],
  [["--labels.__proto__", "3"], "no such parameter"],
  [["--labels.constructor", "3"], "no such parameter"],
  [["--labels.prototype.x", "3"], "no such parameter"],
  [["--filter.", "3"], "no such parameter"],
  [["--.filter", "3"], "no such parameter"],
  [["--same_name", "3"], "no such parameter"],
  [["--no-count"], "no such parameter"],
  [["--no-verbose=1"], "Cannot use --no-verbose with a value"],
  [["--count"], "Cannot use --count without a value"],
  [["--text", "--count", "3"], "Cannot use --text without a value: write --text value, or --text=value"],
  [["--count", "1", "--count", "2"], "Cannot use --count twice: it takes one value"],
  [["--max-items", "1", "--maxItems", "2"], "Cannot use --maxItems twice"],
  [["--verbose", "--no-verbose"], "Cannot use --no-verbose twice"],
  [["stray"], 'Cannot use "stray": it is not a flag'],
  [["-x", "1"], 'Cannot use "-x": it is not a flag'],
  [["--"], 'Cannot use "--": it is not a flag'],
  [["--=x"], 'Cannot use "--=x": it is not a flag'],
  [[""], 'Cannot use "": it is not a flag'],
  [["--\u001B[31m", "x"], String.raw`Cannot use "--\u001b[31m"`],
] as const)("parseFlags() refuses %j", ([words, message]) => {
  expect(() => parseFlags(schema, words, { alsoKnown: ["--json"] })).toThrow(
    expect.objectContaining({ code: "usage-invalid", message: expect.stringContaining(message) as string }) as Error,
  );
});

test("parseFlags() refuses every flag of a tool without parameters", () => {
  const nothing = { type: "object", properties: {}, additionalProperties: false };

  expect(() => parseFlags(nothing, ["--x", "1"])).toThrow("it takes no parameters");
});

test("parseFlags() takes a parameter that is named constructor, if the schema has it", () => {
  const odd = { type: "object", properties: { constructor: { type: "string" } }, additionalProperties: false };

  const settings = parseFlags(odd, ["--constructor", "x"]);

  expect(settings).toEqual([{ path: ["constructor"], value: "x" }]);
});

test("parseFlags() takes any name where the schema takes any, as text or JSON", () => {
  const settings = parseFlags({ type: "object" }, ["--size", "3", "--name", "x", "--inner.x", "1"]);

  expect(applySettings({}, settings)).toEqual({ size: 3, name: "x", inner: { x: 1 } });
});

test("parseFlags() gives settings or a usage error for any words, and changes no prototype", () => {
  const names = [
    "count",
    "tags",
    "filter.size",
    "labels.x",
    "no-verbose",
    "__proto__.x",
    "constructor.prototype.x",
    "any",
  ];
  const word = fc.oneof(fc.constantFrom(...names.map((name) => `--${name}`)), fc.string(), fc.json());

  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      try {
        applySettings({}, parseFlags(schema, words));
      } catch (cause) {
        expect(isKitbagError(cause, "usage-invalid")).toBe(true);
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect({}).not.toHaveProperty("x");
    }),
  );
});

test("applySettings() keeps what no flag speaks of", () => {
  const input = { count: 1, filter: { size: 1, name: "kept" } };

  const result = applySettings(input, parseFlags(schema, ["--filter.size", "2"]));

  expect(result).toEqual({ count: 1, filter: { size: 2, name: "kept" } });
  expect(input.filter.size).toBe(1);
});

test.for([[{ filter: 3 }], [{ filter: [] }], [{ filter: "x" }]] as const)(
  "applySettings() does not go into %j",
  ([input]) => {
    expect(() => applySettings(input, parseFlags(schema, ["--filter.size", "2"]))).toThrow(
      "Cannot use --filter.size: filter is already set to something that has no parts",
    );
  },
);

test("applySettings() gives an object in the place of null", () => {
  const result = applySettings({ filter: null }, parseFlags(schema, ["--filter.size", "2"]));

  expect(result).toEqual({ filter: { size: 2 } });
});

const text = { type: "string" };
const schema: JsonSchema = {
  type: "object",
  properties: {
    count: { type: "integer" },
    ratio: { type: "number" },
    text,
    verbose: { type: "boolean" },
    tags: { type: "array", items: text },
    numbers: { type: "array", items: { type: "number" } },
    rows: { type: "array", items: { type: "object", properties: { size: { type: "number" } } } },
    oneOrMany: { anyOf: [text, { type: "array", items: text }] },
    filter: {
      type: "object",
      properties: {
        size: { type: "integer" },
        name: text,
        deep: { type: "object", properties: { on: { type: "boolean" } } },
      },
    },
    labels: { type: "object", additionalProperties: text },
    maxItems: { type: "integer" },
    user_name: text,
    "same-name": text,
    sameName: text,
    "a.b": text,
    noSmoking: { type: "boolean" },
    level: { enum: [1, 2, "high"] },
    id: { type: ["number", "string"] },
    maybe: { type: ["integer", "null"] },
    name: { type: ["string", "null"] },
    any: {},
    tree: { $ref: "#/$defs/tree" },
    shape: {
      oneOf: [
        { type: "object", properties: { kind: { const: "circle" }, radius: { type: "number" } } },
        { type: "object", properties: { kind: { const: "square" }, side: { type: "number" } } },
      ],
    },
  },
  additionalProperties: false,
  $defs: {
    tree: { type: "object", properties: { value: { type: "number" }, child: { $ref: "#/$defs/tree" } } },
  },
};

test("parseFlags() reads what a value stands for, also if it begins like a flag, and says what is broken in it", () => {
  const schema: JsonSchema = {
    type: "object",
    properties: { code: { type: "string" }, steps: { type: "array", items: { type: "object" } } },
  };
  const files: Readonly<Record<string, string>> = { "@a": "--x\n", "@b": '[{"id": "a"}]\n', "@c": "[{" };
  const readText = (_: string, given: string): string => files[given] ?? given;

  const settings = parseFlags(schema, ["--code", "@a", "--steps=@b"], { readText });
  const broken = (): unknown => parseFlags(schema, ["--steps", "@c"], { readText });

  expect(settings).toEqual([
    { path: ["code"], value: "--x\n" },
    { path: ["steps"], value: [{ id: "a" }] },
  ]);
  expect(broken).toThrow("Cannot use --steps @c: expected JSON, found ");
});
