import { expect, test } from "vitest";

import { cpuMsSince } from "../../../../test/support/cpu-time.ts";
import { parseCode } from "./code.ts";
import { readLiteral, toJson } from "./literals.ts";
import { javascriptSyntax } from "./syntax.ts";

const table: readonly (readonly [source: string, value: unknown])[] = [
  ["'a' + \"b\"", "ab"],
  ["-5", -5],
  ["60 * 1000", 60_000],
  ["1_000", 1000],
  ["[1, 'a', true, null]", [1, "a", true, null]],
  ["{ a: 1, 'b-c': { d: [] } }", { a: 1, "b-c": { d: [] } }],
  ["'x' as const", "x"],
  ["SIZES", ["s", "m"]],
  ["{ SIZES, ...MORE }", { SIZES: ["s", "m"], more: 1 }],
  ["`plain`", "plain"],
  ["`with ${code}`", undefined],
  ["call()", undefined],
  ["unknownName", undefined],
  ["[a, 1]", undefined],
  ["1 + 2", undefined],
  ["", undefined],
];

test.for(table)("readLiteral() reads %s", ([source, value]) => {
  const prelude = "const SIZES = ['s', 'm'];\nconst MORE = { more: 1 };\n";
  const code = parseCode(prelude + source, javascriptSyntax);
  const from = code.tokens.findIndex(({ line }) => line === 3);

  const literal = from === -1 ? undefined : readLiteral(code.tokens, [from, code.tokens.length], code.constants);

  expect(toJson(literal)).toEqual(value);
});

test("readLiteral() keeps a key called __proto__ as a key", () => {
  const { tokens } = parseCode("{ __proto__: 1 }", javascriptSyntax);

  const value = toJson(readLiteral(tokens, [0, tokens.length])) as object;

  expect(Object.keys(value)).toEqual(["__proto__"]);
});

test("readLiteral() gives up on constants that grow without end", () => {
  const names = Array.from({ length: 40 }, (_, index) => `const a${index + 1} = [a${index}, a${index}, a${index}];`);
  const code = parseCode(`const a0 = ['x'];\n${names.join("\n")}\na40`, javascriptSyntax);
  const started = process.cpuUsage();

  const value = toJson(readLiteral(code.tokens, [code.tokens.length - 1, code.tokens.length], code.constants));

  expect(value).toBeUndefined();
  expect(cpuMsSince(started)).toBeLessThan(1000);
});

test("readLiteral() gives up on constants made of themselves, and on deep ones", () => {
  const loop = parseCode("const a = [a]; a", javascriptSyntax);
  const deep = parseCode("[".repeat(1000) + "]".repeat(1000), javascriptSyntax);

  expect(
    toJson(readLiteral(loop.tokens, [loop.tokens.length - 1, loop.tokens.length], loop.constants)),
  ).toBeUndefined();
  expect(toJson(readLiteral(deep.tokens, [0, deep.tokens.length]))).toBeUndefined();
});
