import fc from "fast-check";
import { expect, test } from "vitest";

import { compareCodePoints, createSortedKeys } from "./sorted-keys.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", "\uD7FF", "\uE000", "\uFFFF", "\u{10000}", "\u{1F600}") });

test("compareCodePoints() compares as the bytes of UTF-8 do", () => {
  fc.assert(
    fc.property(text, text, (left, right) => {
      const expected = Buffer.compare(Buffer.from(left), Buffer.from(right));

      expect(Math.sign(compareCodePoints(left, right))).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test("createSortedKeys() is always what sorting the keys would give", () => {
  const change = fc.record({ key: fc.nat(30), present: fc.boolean(), ask: fc.boolean() });

  fc.assert(
    fc.property(fc.array(change, { maxLength: 100, size: "max" }), (changes) => {
      const { map, sorted, set } = createKeys();

      for (const { key, present, ask } of changes) {
        set(`key-${key}`, present);
        if (ask) expect(sorted.all()).toEqual([...map.keys()].toSorted());
      }
      expect(sorted.all()).toEqual([...map.keys()].toSorted());
    }),
  );
});

test("createSortedKeys() sorts anew after more changes than are worth remembering", () => {
  const { map, sorted, set } = createKeys();
  set("old", true);
  sorted.all();

  for (let index = 0; index < 5000; index++) set(`key-${index}`, true);
  for (let index = 0; index < 4000; index++) set(`key-${index}`, false);

  expect(sorted.all()).toEqual([...map.keys()].toSorted());
  expect(sorted.all()).toHaveLength(1001);
});

test("indexOf() finds where the keys from a text on begin", () => {
  const { sorted, set } = createKeys();
  for (const key of ["a", "c", "\uFFFF", "\u{1F600}"]) set(key, true);

  expect(["", "a", "b", "c", "\uFFFF", "\u{1F600}", "\u{1F601}"].map(sorted.indexOf)).toEqual([0, 0, 1, 1, 2, 3, 4]);
});

function createKeys() {
  const map = new Map<string, true>();
  const sorted = createSortedKeys(map);
  return {
    map,
    sorted,
    set(key: string, present: boolean): void {
      if (present === map.has(key)) return;
      if (present) map.set(key, true);
      else map.delete(key);
      sorted.changed(key);
    },
  };
}
