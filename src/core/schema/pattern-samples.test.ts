import { expect, test } from "vitest";

import { findSamples } from "./check-pattern.ts";

test.for([
  ["two letters", ["a", "b"], ["··", "a·", "·b"]],
  ["classes that overlap", ["[a-c]", "[b-d]"], ["··", "1·", "12", "·2"]],
  ["the same twice", ["a", "a"], ["··", "aa"]],
  ["digits and words", ["\\d", "\\w"], ["··", "12", "·2"]],
  ["spaces and the rest, also beyond ASCII", ["\\s", "\\S"], ["1·", "·2"]],
  ["everything but line ends", [".", "\\s"], ["1·", "12", "·2"]],
  ["letters beyond ASCII", ["é", "[à-ÿ]"], ["··", "12", "·2"]],
  ["the same letter, written in other ways", ["\\x41", "\\u0041", "\\u{41}", "A"], ["····", "1234"]],
  ["a letter of two halves", ["\\u{1F600}", "[😀-😂]"], ["··", "12", "·2"]],
  ["the last letter there is", ["\\u{10FFFF}"], ["·", "1"]],
] as const)("findSamples() tells apart %s", ([, characters, samples]) => {
  expect(show(findSamples(characters))).toEqual(
    show(samples.map((sample) => Array.from(sample, (mark) => mark !== "·"))),
  );
});

test("findSamples() takes what a property takes beyond ASCII for everything there", () => {
  expect(show(findSamples(["\\p{Lu}", "\\p{N}"]))).toEqual(["··", "·2", "1·", "12"].toSorted());
});

test("findSamples() takes halves of letters that are written as escapes for everything beyond ASCII", () => {
  expect(show(findSamples(["\\ud83d\\ude00", "é"]))).toEqual(["··", "1·", "12"].toSorted());
});

test("findSamples() of no characters is one", () => {
  expect(findSamples([])).toEqual([[]]);
});

function show(samples: readonly (readonly boolean[])[]): string[] {
  return samples.map((sample) => sample.map((isTaken, index) => (isTaken ? index + 1 : "·")).join("")).toSorted();
}
