import * as fc from "fast-check";
import { expect, test } from "vitest";

import { toCanonicalJson } from "./json.ts";

test("toCanonicalJson() writes equal values as equal texts, whatever the order of their keys", () => {
  expect(toCanonicalJson({ b: [1, { d: null, c: -0 }], a: "ä\u2028" })).toBe(
    '{"a":"ä\u2028","b":[1,{"c":0,"d":null}]}',
  );
});

test("toCanonicalJson() puts keys in the order of their units, few and many", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.nat(), { maxKeys: 60 }), (value) => {
      const keys = Object.keys(JSON.parse(toCanonicalJson(value)) as object);

      // Those that are numbers stand where JavaScript puts them.
      const inOrder = (all: readonly string[]): readonly string[] => all.filter((key) => !/^\d+$/u.test(key));
      expect(inOrder(keys)).toEqual(inOrder(Object.keys(value).toSorted()));
    }),
  );
});

test("toCanonicalJson() puts many keys in order", () => {
  const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
  const value = Object.fromEntries(keys.toReversed().map((key) => [key, 1]));

  expect(Object.keys(JSON.parse(toCanonicalJson(value)) as object)).toEqual(keys.toSorted());
});

test("toCanonicalJson() leaves out what is not there", () => {
  expect(toCanonicalJson({ a: undefined, b: 1 } as never)).toBe('{"b":1}');
});

test("toCanonicalJson() keeps every value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain = JSON.parse(JSON.stringify(value)) as never;

      expect(JSON.parse(toCanonicalJson(plain))).toEqual(plain);
    }),
  );
});
