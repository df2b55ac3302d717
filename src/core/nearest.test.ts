import fc from "fast-check";
import { expect, test } from "vitest";

import { nearestNames } from "./nearest.ts";

const tools = ["read-file", "write-file", "list-files", "search", "send-mail", "weather"];

test.for([
  ["a letter too few", "read-fil", "read-file"],
  ["a letter too many", "weatherr", "weather"],
  ["a wrong letter", "saerch", "search"],
  ["two letters swapped", "raed-file", "read-file"],
  ["other words in one", "readFile", "read-file"],
  ["underscores", "read_file", "read-file"],
  ["capitals", "READ-FILE", "read-file"],
  ["spaces", "send mail", "send-mail"],
  ["the beginning", "send", "send-mail"],
  ["the end", "mail", "send-mail"],
  ["more than the name", "search_web", "search"],
  ["an owner before it", "tools/weather", "weather"],
] as const)("nearestNames() finds what was meant by %s", ([, typed, meant]) => {
  expect(nearestNames(typed, tools)[0]).toBe(meant);
});

test("nearestNames() finds nothing where nothing is near", () => {
  expect(nearestNames("translate", tools)).toEqual([]);
  expect(nearestNames("xy", ["ab"])).toEqual([]);
  expect(nearestNames("k", ["c", "f", "K", "kc"])).toEqual(["K"]);
  expect(nearestNames("anything", [])).toEqual([]);
});

test.for(["", "-", " _ "])("nearestNames() finds nothing for %j, which is no word", (typed) => {
  expect(nearestNames(typed, ["a", "b", ""])).toEqual([]);
});

test("nearestNames() puts the nearest first, and equally near ones in the order of the alphabet", () => {
  expect(nearestNames("color", ["colon", "colour", "color", "dolor"])).toEqual(["color", "colon", "colour"]);
  expect(nearestNames("file", ["file-b", "file-a", "file-c"])).toEqual(["file-a", "file-b", "file-c"]);
});

test("nearestNames() gives at most as many as it is asked for", () => {
  expect(nearestNames("file", ["file1", "file2", "file3", "file4"])).toHaveLength(3);
  expect(nearestNames("file", ["file1", "file2", "file3", "file4"], 1)).toEqual(["file1"]);
});

test("nearestNames() gives names that objects inherit only if they are known", () => {
  expect(nearestNames("constructor", [])).toEqual([]);
  expect(nearestNames("__proto__", ["proto"])).toEqual(["proto"]);
});

test("nearestNames() looks at no name of more than 128 characters, so 10 MB cost nothing", () => {
  const long = "a".repeat(10_000_000);

  expect(nearestNames(long, [long, "a"])).toEqual([]);
  expect(nearestNames("aaa", [long, "aab"])).toEqual(["aab"]);
  expect(nearestNames("-".repeat(129), ["a"])).toEqual([]);
});

test("nearestNames() always knows a known name, whatever stands between its words", () => {
  const word = fc.stringMatching(/^[a-z]{1,10}$/u);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), fc.array(word), (words, others) => {
      const known = words.join("-");

      expect(nearestNames(words.join("_").toUpperCase(), [...others, known], 100)).toContain(known);
    }),
  );
});

test("nearestNames() finds a name after any one change of a longer one", () => {
  const index = fc.nat({ max: 8 });
  fc.assert(
    fc.property(index, fc.constantFrom("insert", "delete", "replace", "swap"), (at, change) => {
      const letters = "typewriter".split("");
      if (change === "insert") letters.splice(at, 0, "q");
      if (change === "delete") letters.splice(at, 1);
      if (change === "replace") letters.splice(at, 1, "q");
      if (change === "swap") letters.splice(at, 2, letters[at + 1] ?? "", letters[at] ?? "");

      expect(nearestNames(letters.join(""), ["typewriter"])).toEqual(["typewriter"]);
    }),
  );
});
