import { expect, test } from "vitest";

import { toKept, toKeptText } from "./kept-value.ts";

const silent = Object.defineProperty({ a: 1 }, "toJSON", { value: () => "other" });
const hidden = Object.defineProperty([1], "toJSON", { value: () => "other" });
const cycle: { self?: unknown } = {};
cycle.self = cycle;
const sparse: unknown[] = [];
sparse[1] = 1;

test.for<[what: string, value: unknown]>([
  ["what JSON can hold", { text: 'ä"\n\ud800', list: [1, -0, 1.5, true, null, [], {}], empty: "" }],
  ["a property that is undefined", { a: undefined, b: [{ c: undefined }] }],
  ["a property with a symbol as its key", { [Symbol("a")]: 1, b: 2 }],
  ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
  ["a getter", Object.defineProperty({}, "a", { get: () => 1, enumerable: true })],
  ["a property that is not listed", Object.defineProperty({ b: 1 }, "a", { value: 5 })],
  ["toJSON that is not listed", silent],
  ["toJSON of a list", { list: hidden }],
  ["a text without an object", "text"],
  ["one nested deeply", nest(100)],
  ["a long text", "x".repeat(2_000_000)],
  ["keys whose order is that of numbers", { b: 1, 2: 1, 1: 1 }],
])("toKeptText() writes %s as a copy would be written", ([, value]) => {
  const text = toKeptText("s", value, 0);

  expect(text).toBe(JSON.stringify(toKept("s", value, 0)));
});

test.for<[what: string, value: unknown]>([
  ["nothing", undefined],
  ["nothing in a list", [undefined]],
  ["a hole in a list", sparse],
  ["NaN", { a: Number.NaN }],
  ["infinity", [Infinity]],
  ["a BigInt", { a: 1n }],
  ["a function", { a: () => 1 }],
  ["a symbol", [Symbol("a")]],
  ["a Date", { at: new Date(0) }],
  ["a Map", new Map()],
  ["an instance of a class", { a: new URLSearchParams() }],
  ["an instance that knows its JSON", { toJSON: () => 1 }],
  ["bytes", new Uint8Array(2)],
  ["the key __proto__", JSON.parse('{"a":{"__proto__":1}}')],
  ["an object that contains itself", cycle],
  ["one nested too deeply", nest(129)],
  ["a text that is too long", "x".repeat(33 * 1024 * 1024)],
  ["too many that share what is in them", share(40)],
  [
    "one that throws",
    {
      get a() {
        throw new Error("no");
      },
    },
  ],
])("toKeptText() refuses %s", ([, value]) => {
  expect(() => toKeptText("s", value, 3)).toThrow(
    expect.objectContaining({ code: "store-value-invalid", details: expect.objectContaining({ where: "s[3]" }) }),
  );
});

function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

/** A few objects that would be very many as JSON. */
function share(levels: number): unknown {
  let value: unknown = "leaf";
  for (let level = 0; level < levels; level++) value = [value, value];
  return value;
}
