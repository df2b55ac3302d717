import { expect, test } from "vitest";

import { describeThrown } from "./describe-thrown.ts";

test.for<[string, unknown, string]>([
  ["an error", new Error("broken"), "broken"],
  ["an error without a message", new TypeError(), "TypeError"],
  ["a text", "a text", "a text"],
  ["undefined", undefined, "undefined"],
  ["null", null, "null"],
  ["a symbol", Symbol("s"), "Symbol(s)"],
  ["a BigInt", 10n, "10"],
  ["an error whose message is a number", Object.assign(new Error("x"), { message: 42 }), "42"],
])("describeThrown() says what was thrown: %s", ([, thrown, text]) => {
  expect(describeThrown(thrown)).toBe(text);
});

test("describeThrown() survives things that throw when they are looked at", () => {
  const throwing = (): never => {
    throw new Error("no");
  };
  const hostile = [
    Object.create(null),
    Object.assign(new Error("x"), { message: Object.create(null) as string }),
    { toString: throwing },
    new Proxy({}, { getPrototypeOf: throwing }),
    Object.defineProperty(new Error("x"), "message", { get: throwing }),
  ];

  expect(hostile.map(describeThrown)).toEqual(hostile.map(() => "something that cannot be shown"));
});

test("describeThrown() shortens a huge message", () => {
  const text = describeThrown(new Error("x".repeat(10_000_000)));

  expect(text).toBe(`${"x".repeat(4000)}…`);
});
