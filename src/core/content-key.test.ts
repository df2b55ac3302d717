import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { toContentKey } from "./content-key.ts";

const fixtures = join(import.meta.dirname, "../../test/fixtures/similar");

const nearMisses = readPairs("near-misses.txt");
const paraphrases = readPairs("paraphrases.txt");

test("the set of near-misses is large, and each pair is there once", () => {
  expect(nearMisses.length).toBeGreaterThanOrEqual(200);
  expect(new Set(nearMisses.map(String)).size).toBe(nearMisses.length);
});

test("toContentKey() tells all near-misses apart", () => {
  const same = nearMisses.filter(([one, other]) => toContentKey(one) === toContentKey(other));

  expect(same).toEqual([]);
});

test("toContentKey() is the same for 27 of 50 paraphrases: the rest are in other words", () => {
  const same = paraphrases.filter(([one, other]) => toContentKey(one) === toContentKey(other));

  expect(paraphrases).toHaveLength(50);
  expect(same).toHaveLength(27);
});

test.for([
  ["1,000 and 1.5 and 8:30", "1000 and 1.5 and 8:30"],
  ["Version 1,2 is 5km long", "version 1,2 is 5 km long"],
  ["I'm sure that he won't, and she can't", "i am sure that he will not , and she can not"],
  ["They've said we'll shan't", "they have said we will shall not"],
  ["please", "please"],
  ["the", "the"],
  ["Please, thanks", "thanks"],
  ["tell me what", "what"],
  ["do you know what is is", "what is is"],
  ["today or tomorrow", "today or tomorrow"],
  ["Today rain", "today rain"],
  ["...", ""],
  ["", ""],
])("toContentKey() of %j is %j", ([text, key]) => {
  expect(toContentKey(text as string)).toBe(key);
});

function readPairs(name: string): readonly (readonly [one: string, other: string])[] {
  const lines = readFileSync(join(fixtures, name), "utf8").split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("# "))
    .map((line) => {
      const [one = "", other = ""] = line.split(" | ");
      return [one, other] as const;
    });
}
