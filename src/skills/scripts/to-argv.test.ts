import { expect, test } from "vitest";

import { isKitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ArgvMapping, ArgvPart } from "./argv-mapping.ts";
import { toArgv, toWord } from "./to-argv.ts";

const flag: ArgvPart = { kind: "flag", property: "out", flag: "--out", joint: "=" };
const list: ArgvPart = { kind: "flag", property: "files", flag: "--files", many: "list", joint: "=" };
const place: ArgvPart = { kind: "positional", property: "input" };
const rest: ArgvPart = { kind: "positional", property: "rest", many: true };

const table: readonly { name: string; mapping: ArgvMapping; input: JsonObject; argv: readonly string[] }[] = [
  {
    name: "a flag and its value as two words",
    mapping: { parts: [flag] },
    input: { out: "a b" },
    argv: ["--out", "a b"],
  },
  {
    name: "a value that starts with a dash joined to its flag",
    mapping: { parts: [flag] },
    input: { out: "-x" },
    argv: ["--out=-x"],
  },
  { name: "a lone dash as a value", mapping: { parts: [flag] }, input: { out: "-" }, argv: ["--out", "-"] },
  { name: "an empty value", mapping: { parts: [flag] }, input: { out: "" }, argv: ["--out", ""] },
  {
    name: "a value with a newline and quotes as it is",
    mapping: { parts: [flag] },
    input: { out: 'a\n"b" $(c)' },
    argv: ["--out", 'a\n"b" $(c)'],
  },
  {
    name: "a dash value as two words where the script knows no other way",
    mapping: { parts: [{ kind: "flag", property: "out", flag: "--out" }] },
    input: { out: "-x" },
    argv: ["--out", "-x"],
  },
  {
    name: "a flag that is always joined",
    mapping: { parts: [{ ...flag, joined: "always" }] },
    input: { out: "x" },
    argv: ["--out=x"],
  },
  { name: "nothing for null", mapping: { parts: [flag, place] }, input: { out: null, input: null }, argv: [] },
  { name: "nothing for what is not mapped", mapping: { parts: [flag] }, input: { other: 1 }, argv: [] },
  {
    name: "a list with the flag before each item",
    mapping: { parts: [{ ...flag, many: "repeat" }] },
    input: { out: ["a", "-b"] },
    argv: ["--out", "a", "--out=-b"],
  },
  {
    name: "a list after one flag",
    mapping: { parts: [list] },
    input: { files: ["a", "b"] },
    argv: ["--files", "a", "b"],
  },
  {
    name: "a list of one dash value joined",
    mapping: { parts: [list] },
    input: { files: ["-a"] },
    argv: ["--files=-a"],
  },
  {
    name: "nothing for an empty list that repeats",
    mapping: { parts: [{ ...flag, many: "repeat" }] },
    input: { out: [] },
    argv: [],
  },
  {
    name: "a list with commas",
    mapping: { parts: [{ ...flag, many: "comma" }] },
    input: { out: ["a", "b"] },
    argv: ["--out", "a,b"],
  },
  {
    name: "a separator after an open list",
    mapping: { parts: [list, place], separator: "needed" },
    input: { files: ["a"], input: "b" },
    argv: ["--files", "a", "--", "b"],
  },
  {
    name: "no separator when another flag closes the list",
    mapping: { parts: [list, flag, place], separator: "needed" },
    input: { files: ["a", "b"], out: "o", input: "c" },
    argv: ["--files", "a", "b", "--out", "o", "c"],
  },
  {
    name: "a separator before a positional that looks like a flag",
    mapping: { parts: [place], separator: "needed" },
    input: { input: "--help" },
    argv: ["--", "--help"],
  },
  {
    name: "no separator before a plain positional",
    mapping: { parts: [place], separator: "needed" },
    input: { input: "a" },
    argv: ["a"],
  },
  { name: "no separator without positionals", mapping: { parts: [place], separator: "always" }, input: {}, argv: [] },
  {
    name: "words of a sub-command between the flags above and below",
    mapping: { parts: [flag, { kind: "word", word: "add" }, place], separator: "needed" },
    input: { out: "o", input: "i" },
    argv: ["--out", "o", "add", "i"],
  },
  {
    name: "positionals above a sub-command before its word",
    mapping: { parts: [place, { kind: "word", word: "add" }, rest], separator: "needed" },
    input: { input: "i", rest: ["-a"] },
    argv: ["i", "add", "--", "-a"],
  },
  {
    name: "gaps between positionals filled",
    mapping: {
      parts: [place, { kind: "positional", property: "level", fill: "3" }, { kind: "positional", property: "last" }],
    },
    input: { last: "z" },
    argv: ["", "3", "z"],
  },
  {
    name: "no filling after the last positional that is given",
    mapping: { parts: [place, { kind: "positional", property: "level", fill: "3" }] },
    input: { input: "a" },
    argv: ["a"],
  },
  {
    name: "booleans as the words that say them",
    mapping: { parts: [{ kind: "choice", property: "color", words: { true: ["--color"], false: ["--no-color"] } }] },
    input: { color: false },
    argv: ["--no-color"],
  },
  {
    name: "nothing for a choice without words",
    mapping: { parts: [{ kind: "choice", property: "color", words: { true: ["--color"] } }] },
    input: { color: false },
    argv: [],
  },
  {
    name: "nothing for a choice named like a method of objects",
    mapping: { parts: [{ kind: "choice", property: "kind", words: { a: ["-a"] } }] },
    input: { kind: "constructor" },
    argv: [],
  },
  {
    name: "a count as repetitions",
    mapping: { parts: [{ kind: "count", property: "v", flag: "-v" }] },
    input: { v: 3 },
    argv: ["-v", "-v", "-v"],
  },
  {
    name: "nothing for a count below one",
    mapping: { parts: [{ kind: "count", property: "v", flag: "-v" }] },
    input: { v: -2 },
    argv: [],
  },
  {
    name: "a flag alone for the value it then has",
    mapping: { parts: [{ ...flag, alone: true }] },
    input: { out: true },
    argv: ["--out"],
  },
  {
    name: "other words for true and false",
    mapping: { parts: [{ ...flag, booleans: ["yes", ""] }] },
    input: { out: false },
    argv: ["--out", ""],
  },
  {
    name: "nothing for the default",
    mapping: { parts: [{ ...flag, omit: [1, 2] }] },
    input: { out: [1, 2] },
    argv: [],
  },
  { name: "an object as JSON", mapping: { parts: [flag] }, input: { out: { a: [1] } }, argv: ["--out", '{"a":[1]}'] },
];

test.for(table)("toArgv() writes $name", ({ mapping, input, argv }) => {
  expect(toArgv(mapping, input).argv).toEqual(argv);
});

test("toArgv() never writes a count of more than a hundred", () => {
  const { argv } = toArgv({ parts: [{ kind: "count", property: "v", flag: "-v" }] }, { v: 1e9 });

  expect(argv).toHaveLength(100);
});

test("toArgv() puts variables into the environment", () => {
  const { env, argv } = toArgv({ parts: [{ kind: "env", property: "token", variable: "API_TOKEN" }] }, { token: "t" });

  expect({ env, argv }).toEqual({ env: { API_TOKEN: "t" }, argv: [] });
});

test("toArgv() writes text and JSON to standard input", () => {
  const text = toArgv({ parts: [{ kind: "stdin", property: "text", as: "text" }] }, { text: "a\nb" });
  const json = toArgv({ parts: [{ kind: "stdin", property: "data", as: "json" }] }, { data: { a: 1 } });

  expect([text.stdin, json.stdin]).toEqual(["a\nb", '{"a":1}']);
});

test("toArgv() writes no standard input for a script that reads none", () => {
  expect(toArgv({ parts: [place] }, { input: "a" })).not.toHaveProperty("stdin");
});

test("toArgv() writes fields as one object, with null and with others if they are wanted", () => {
  const parts: ArgvPart[] = [{ kind: "field", property: "a" }];

  expect(toArgv({ parts }, { a: null, b: 2 }).stdin).toBe('{"a":null}');
  expect(toArgv({ parts, otherFields: true }, { a: 1, b: 2 }).stdin).toBe('{"a":1,"b":2}');
  expect(toArgv({ parts }, {}).stdin).toBe("{}");
});

test("toArgv() reads no value from the prototype of its input", () => {
  const input = JSON.parse('{"__proto__": {"out": "x"}}') as JsonObject;

  expect(toArgv({ parts: [flag] }, input).argv).toEqual([]);
  expect(toArgv({ parts: [{ ...flag, property: "toString" }] }, {}).argv).toEqual([]);
});

test("toArgv() refuses a NUL character and names the tool", () => {
  const act = (): unknown => toArgv({ parts: [flag] }, { out: "a\0b" }, "pdf/extract");

  expect(act).toThrow(
    'Cannot call "pdf/extract": the input is wrong: expected text without NUL characters, found one in argument 2',
  );
  try {
    act();
  } catch (cause) {
    expect(isKitbagError(cause, "input-invalid")).toBe(true);
  }
});

test("toWord() writes numbers without exponents where they are whole", () => {
  expect([1e21, 0.1, -0, 1e-7].map((value) => toWord(value))).toEqual(["1000000000000000000000", "0.1", "0", "1e-7"]);
});
