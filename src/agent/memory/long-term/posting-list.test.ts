import fc from "fast-check";
import { expect, test } from "vitest";

import { addPosting, createPostingList, readPostings, removePosting, writePostings } from "./posting-list.ts";

test("readPostings() reads what writePostings() wrote, in whatever order the turns were added", () => {
  const number = fc.integer({ min: 0, max: 10_000_000 });
  const posting = fc.record({
    number,
    count: fc.integer({ min: 1, max: 15 }),
    length: fc.integer({ min: 1, max: 4095 }),
  });

  fc.assert(
    fc.property(fc.uniqueArray(posting, { selector: (one) => one.number, maxLength: 60 }), (postings) => {
      const list = createPostingList();
      for (const one of postings) addPosting(list, one);
      const read = createPostingList();
      readPostings(writePostings(list), read);

      expect(read).toEqual(list);
      expect(read.numbers).toEqual(postings.map((one) => one.number).toSorted((left, right) => left - right));
    }),
  );
});

test("addPosting() and removePosting() change nothing the second time", () => {
  const list = createPostingList();

  expect(addPosting(list, { number: 3, count: 99, length: 9999 })).toBe(true);
  expect(addPosting(list, { number: 3, count: 1, length: 1 })).toBe(false);
  expect(list).toEqual({ numbers: [3], counts: [15], lengths: [4095] });
  expect(removePosting(list, 2)).toBe(false);
  expect(removePosting(list, 3)).toBe(true);
  expect(list.numbers).toEqual([]);
});

test.for(["", "~~~", "g", "gggggggggggggggggggggggggggg", "\u{1F600}"])("readPostings() takes any text: %j", (text) => {
  expect(() => readPostings(text, createPostingList())).not.toThrow();
});
