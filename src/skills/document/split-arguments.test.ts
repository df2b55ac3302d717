import fc from "fast-check";
import { expect, test } from "vitest";

import { splitArguments } from "./split-arguments.ts";

test.for([
  ["", []],
  ["  \t\n ", []],
  ["a b  c", ["a", "b", "c"]],
  ['"hello world" second', ["hello world", "second"]],
  ["'a \"b\" c'", ['a "b" c']],
  [`"it's"`, ["it's"]],
  ['a"b c"d', ["ab cd"]],
  ['""', [""]],
  ["a\\ b", ["a b"]],
  ['"a \\"b\\" \\n"', ['a "b" \\n']],
  ["don't stop", ["don't", "stop"]],
  ['say "hello', ["say", '"hello']],
  ["$HOME `id` $(id) *; a|b && c > d", ["$HOME", "`id`", "$(id)", "*;", "a|b", "&&", "c", ">", "d"]],
  ["trailing\\", ["trailing\\"]],
  ["日本 語", ["日本", "語"]],
] as const)("splitArguments() splits %j", ([text, words]) => {
  expect(splitArguments(text)).toEqual(words);
});

test("splitArguments() gives back every word that was quoted", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 6 }), (words) => {
      const quoted = words.map((word) => `'${word.replaceAll("'", `'"'"'`)}'`).join(" ");

      expect(splitArguments(quoted)).toEqual(words);
    }),
  );
});

test("splitArguments() takes time in proportion to the text", () => {
  const started = performance.now();

  for (const text of [
    "'".repeat(300_000),
    '"'.repeat(300_001),
    "\\".repeat(300_000),
    `"${"\\".repeat(300_000)}`,
    "' ".repeat(150_001),
  ]) {
    splitArguments(text);
  }

  expect(performance.now() - started).toBeLessThan(30_000);
});
