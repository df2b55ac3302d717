import * as fc from "fast-check";
import { expect, test } from "vitest";

import { isKitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { parseTemplate, type Template, renderTemplate } from "./template.ts";

test.for<[string, string, (string | number)[]]>([
  ["$input", "input", []],
  ["$input.a.b", "input", ["a", "b"]],
  ["$input.list[0]", "input", ["list", 0]],
  ["$input.list[0][12].x", "input", ["list", 0, 12, "x"]],
  ["$step-one.first-name", "step-one", ["first-name"]],
  ['$input["any key"].b', "input", ["any key", "b"]],
  ['$input["a\\"b"]', "input", ['a"b']],
  ["${input.a}", "input", ["a"]],
  ['${input["}"]}', "input", ["}"]],
  ["$prev.__proto__", "prev", ["__proto__"]],
])("parseTemplate() reads %s as one reference", ([text, root, path]) => {
  const template = parseTemplate(text);

  expect(template).toMatchObject({ kind: "reference", reference: { root, path } });
});

test.for<[string, string[]]>([
  ["NY: $ny.datetime, bye", ["NY: ", "$ny.datetime", ", bye"]],
  ["$a.b.", ["$a.b", "."]],
  ["$a.b...", ["$a.b", "..."]],
  ["$from-$to", ["$from", "-", "$to"]],
  ["${a}b", ["$a", "b"]],
  ["$a[x]", ["$a", "[x]"]],
  ["$a[0", ["$a", "[0"]],
  ["$a$b", ["$a", "$b"]],
  ['$a["\\x"]', ["$a", '["\\x"]']],
  ["$$$a", ["$", "$a"]],
  ["你好$input.name你好", ["你好", "$input.name", "你好"]],
])("parseTemplate() finds the references in %s", ([text, expected]) => {
  const template = parseTemplate(text);

  const parts = template.kind === "text" ? template.parts : [];
  expect(parts.map((part) => (typeof part === "string" ? part : part.text))).toEqual(expected);
});

test.for<[string, string]>([
  ["$5.00", "$5.00"],
  ["US$", "US$"],
  ["a $ b", "a $ b"],
  ["$$", "$"],
  ["$$input", "$input"],
  ["$${input}", "${input}"],
  ["$$$$", "$$"],
  ["", ""],
])("parseTemplate() reads %j as the text %j", ([text, expected]) => {
  expect(parseTemplate(text)).toEqual({ kind: "literal", value: expected });
});

test.for(["${", "${}", "${input", "${1}", "${input.}", "${ input }", "a ${input.a b} c"])(
  "parseTemplate() refuses %s",
  (text) => {
    expect(() => parseTemplate({ a: [text] })).toThrow(
      "a[0]: expected a reference such as ${input.name}, or $$ for a dollar sign",
    );
  },
);

test("parseTemplate() tells all that it cannot read at once", () => {
  try {
    parseTemplate({ a: "${", b: ["${"], c: "$ok" });
    expect.unreachable();
  } catch (cause) {
    expect(isKitbagError(cause, "pipeline-invalid") && cause.details.problems.map(({ path }) => path)).toEqual([
      "a",
      "b[0]",
    ]);
  }
});

test("parseTemplate() keeps what has no reference in one piece", () => {
  const value = { a: [1, { b: "x" }], c: null };

  expect(parseTemplate(value)).toEqual({ kind: "literal", value });
});

test("any JSON comes back when its dollar signs are doubled", () => {
  const anything = fc.jsonValue({ maxDepth: 4 }).filter((value) => !JSON.stringify(value).includes("__proto__"));

  fc.assert(
    fc.property(anything, (value) => {
      const json = JSON.parse(JSON.stringify(value)) as JsonValue;

      const rendered = renderTemplate(parseTemplate(doubleDollars(json)), () => undefined);

      expect(rendered).toEqual(json);
    }),
  );
});

test("text around references comes back with the values in it", () => {
  const part = fc.oneof(
    fc.string().map((text) => ({ source: text.replaceAll("$", "$$$$"), result: text })),
    fc.constantFrom("a", "b", "c").map((id) => ({ source: `\${${id}.v}`, result: `<${id}>` })),
  );

  fc.assert(
    fc.property(fc.array(part, { minLength: 2 }), (parts) => {
      const source = `.${parts.map((one) => one.source).join("")}`;

      const rendered = renderTemplate(parseTemplate(source), (root) => ({ v: `<${root}>` }));

      expect(rendered).toBe(`.${parts.map((one) => one.result).join("")}`);
    }),
  );
});

test("parseTemplate() throws nothing but pipeline-invalid, whatever the text", () => {
  const text = fc
    .array(fc.constantFrom("$", "{", "}", "[", "]", '"', ".", "a", "0", "-", "\\", " ", "é"))
    .map((all) => {
      return all.join("");
    });

  fc.assert(
    fc.property(text, (source) => {
      expect(attempt(() => parseTemplate(source))).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test("parseTemplate() reads a long text with many references in no time", () => {
  const text = "$a ".repeat(100_000);

  const template = parseTemplate(text);

  expect(template.kind === "text" && template.parts).toHaveLength(200_000);
});

function doubleDollars(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.replaceAll("$", "$$$$");
  if (Array.isArray(value)) return (value as JsonValue[]).map(doubleDollars);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, doubleDollars(inner)]));
}

function attempt(parse: () => Template): boolean {
  try {
    return parse().kind.length > 0;
  } catch (cause) {
    return isKitbagError(cause, "pipeline-invalid");
  }
}
