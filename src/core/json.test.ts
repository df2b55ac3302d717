import { runInNewContext } from "node:vm";

import fc from "fast-check";
import { expect, test } from "vitest";

import { cloneJson, copyJson, isRecord, maxJsonDepth, showValue, toPath, type JsonValue } from "./json.ts";

const limits = { maxBytes: 1_000_000, maxDepth: maxJsonDepth };

test("copyJson() copies a value, so that a change of the original is not seen", () => {
  const original = { list: [1, { deep: "a" }], none: null, on: true };

  const copy = copyJson(original, limits);
  original.list.push(2);

  expect(copy).toMatchObject({ ok: true, value: { list: [1, { deep: "a" }], none: null, on: true } });
});

test("copyJson() is the same as writing JSON and reading it, and counts the bytes of its texts", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: "binary" }), (value) => {
      const text = JSON.stringify(value);

      const copy = copyJson(value, limits);

      // Keys that JSON could hold, but that no object should.
      if (text.includes('"__proto__"')) return;
      expect(copy).toMatchObject({ ok: true, value: JSON.parse(text) });
      // An escape is two to six bytes for a character of one to three.
      if (!copy.ok) return;
      expect(copy.bytes).toBeLessThanOrEqual(Buffer.byteLength(text));
      expect(copy.bytes).toBeGreaterThanOrEqual(Buffer.byteLength(text) / 6);
      if (!text.includes("\\")) expect(copy.bytes).toBe(Buffer.byteLength(text));
    }),
  );
});

test.for([
  ["an empty text", "", 2],
  ["plain text", "abc", 5],
  ["letters of two bytes", "éß", 6],
  ["letters of three bytes", "漢\uffff", 8],
  ["letters of four bytes", "😀", 6],
  ["long plain text", "é".repeat(100), 202],
  ["a digit", 7, 1],
  ["a fraction", -12.5, 5],
  ["a huge number", 1e300, 6],
  ["minus zero", -0, 1],
  ["true, false and null", [true, false, null], 17],
  ["an object", { a: 1, b: [] }, 14],
] as const)("copyJson() counts the bytes of %s", ([, value, bytes]) => {
  expect(copyJson(value, limits)).toMatchObject({ ok: true, bytes });
  expect(Buffer.byteLength(JSON.stringify(value))).toBe(bytes);
});

test.for([
  ["quotes and backslashes", '"\\', 4],
  ["line ends", "\n\r\t\b\f", 7],
  ["other control characters", "\0\v\u001f", 5],
  ["halves of a letter", "\ud83d a \ude00", 11],
] as const)("copyJson() counts %s as they are, and not as JSON escapes them", ([, value, bytes]) => {
  expect(copyJson(value, limits)).toMatchObject({ ok: true, bytes });
});

test("copyJson() leaves out what JSON leaves out: undefined properties and symbols as keys", () => {
  const value = { a: 1, b: undefined, [Symbol("c")]: 2 };

  expect(copyJson(value, limits)).toEqual({ ok: true, value: { a: 1 }, bytes: 7 });
});

test("copyJson() makes minus zero a zero, as JSON does", () => {
  const copy = copyJson([-0], limits);

  expect(copy.ok && Object.is((copy.value as number[])[0], 0)).toBe(true);
});

test.for([
  ["NaN", { a: NaN }, "a: expected a finite number, found NaN"],
  ["Infinity", [1, -Infinity], "[1]: expected a finite number, found -Infinity"],
  ["a BigInt", { a: 10n }, 'a: expected a JSON value, found the BigInt "10"'],
  ["a Date", { a: new Date(0) }, "a: expected a plain object, found a Date (give its toISOString())"],
  ["a Map", { a: new Map() }, "a: expected a plain object, found a Map (give Object.fromEntries() of it)"],
  ["a Set", { a: new Set() }, "a: expected a plain object, found a Set (give a list of its values)"],
  ["a class instance", { a: new URL("https://a.test") }, 'a: expected a plain object, found an instance of "URL"'],
  ["a typed array", { a: new Uint8Array(2) }, 'a: expected a plain object, found an instance of "Uint8Array"'],
  ["a boxed number", { a: Object(1) as object }, 'a: expected a plain object, found an instance of "Number"'],
  ["a boxed text", { a: Object("b") as object }, 'a: expected a plain object, found an instance of "String"'],
  ["an error", { a: new Error("b") }, 'a: expected a plain object, found an instance of "Error"'],
  ["a promise", { a: Promise.resolve() }, 'a: expected a plain object, found an instance of "Promise"'],
  [
    "a class without a name",
    { a: new (class extends Object {})() },
    "a: expected a plain object, found an object that is not plain",
  ],
  [
    "a child of an object",
    { a: Object.create({ b: 1 }) as object },
    'a: expected a plain object, found an instance of "Object"',
  ],
  [
    "a child of an object without a prototype",
    Object.create(Object.create(null) as object),
    "expected a plain object, found an object that is not plain",
  ],
  ["a function", { a: () => 1 }, "a: expected a JSON value, found a function"],
  ["a symbol", { a: Symbol("b") }, "a: expected a JSON value, found a symbol"],
  ["nothing", undefined, "expected a JSON value, found nothing"],
  ["a hole in a list", Object.assign([1], { 2: 3 }), "[1]: expected a JSON value, found nothing"],
  ["an endless list of holes", Array(4_000_000_000), "[0]: expected a JSON value, found nothing"],
  [
    "the key __proto__",
    JSON.parse('{"a":{"__proto__":1}}'),
    'a.__proto__: expected another key, found the key "__proto__"',
  ],
] as const)("copyJson() refuses %s and says where", ([, value, message]) => {
  expect(problemOf(value)).toBe(message);
});

test("copyJson() takes keys that objects inherit: constructor, toString", () => {
  const value = { constructor: 1, toString: "a", hasOwnProperty: null };

  expect(copyJson(value, limits)).toMatchObject({ ok: true, value });
});

test("copyJson() takes objects without a prototype and objects of another realm", () => {
  const bare = Object.assign(Object.create(null) as object, { a: [1] });
  const foreign: unknown = runInNewContext("({ b: [{ c: 1 }], d: Object.create(null) })");

  expect(copyJson([bare, foreign], limits)).toMatchObject({ ok: true, value: [{ a: [1] }, { b: [{ c: 1 }], d: {} }] });
});

test("copyJson() refuses a Date of another realm", () => {
  expect(problemOf(runInNewContext("({ when: new Date(0) })"))).toBe(
    'when: expected a plain object, found an instance of "Date"',
  );
});

test("R13: copyJson() refuses a value of 10,000 levels, without running out of stack", () => {
  const lists: unknown = JSON.parse("[".repeat(10_000) + "]".repeat(10_000));
  const objects: unknown = JSON.parse('{"a":'.repeat(10_000) + "1" + "}".repeat(10_000));

  expect(problemOf(lists)).toBe(`${"[0]".repeat(12)}: expected at most 64 levels, found more`);
  expect(problemOf(objects)).toBe(`${Array(12).fill("a").join(".")}: expected at most 64 levels, found more`);
});

test("R13: copyJson() takes exactly as many levels as it is told", () => {
  const deep = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

  expect(copyJson(deep(5), { ...limits, maxDepth: 5 }).ok).toBe(true);
  expect(copyJson(deep(6), { ...limits, maxDepth: 5 }).ok).toBe(false);
});

test("copyJson() refuses a cycle and calls it one", () => {
  const cycle: Record<string, unknown> = {};
  cycle["a"] = [cycle];

  expect(problemOf(cycle)).toContain("expected at most 64 levels, found an object that contains itself");
});

test("copyJson() copies an object twice that is there twice, because that is no cycle", () => {
  const shared = { a: 1 };

  const copy = copyJson([shared, shared], limits);

  expect(copy).toMatchObject({ ok: true, value: [{ a: 1 }, { a: 1 }] });
  expect(copy.ok && (copy.value as unknown[])[0]).not.toBe(copy.ok && (copy.value as unknown[])[1]);
});

test("copyJson() ends soon for a small value that is huge when written out", () => {
  let doubled: unknown = [];
  for (let level = 0; level < 60; level++) doubled = [doubled, doubled];

  expect(copyJson(doubled, limits)).toEqual({ ok: false, reason: "too-large" });
});

test.for([
  ["a text", "a".repeat(11)],
  ["a number", 12_345_678_901],
  ["a key", { ["a".repeat(10)]: 1 }],
  ["a list", [1, 2, 3, 4, 5, 6]],
] as const)("copyJson() refuses %s beyond the limit of bytes", ([, value]) => {
  expect(copyJson(value, { ...limits, maxBytes: 10 })).toEqual({ ok: false, reason: "too-large" });
});

test("copyJson() takes a value of exactly the limit of bytes", () => {
  expect(copyJson("a".repeat(8), { ...limits, maxBytes: 10 }).ok).toBe(true);
});

test("copyJson() refuses a text of 50 MB without reading it", () => {
  expect(copyJson("\0".repeat(50_000_000), limits)).toEqual({ ok: false, reason: "too-large" });
});

test("copyJson() refuses more lists and objects than so many bytes hold", () => {
  const empties = Array.from({ length: 200_000 }, () => []);

  expect(copyJson(empties, limits)).toEqual({ ok: false, reason: "too-large" });
  expect(copyJson(empties, { ...limits, maxBytes: 10_000_000 }).ok).toBe(true);
});

test("copyJson() says where a value throws when it is read, and what", () => {
  const value = {
    a: [
      {
        get b(): never {
          throw new Error("not now");
        },
      },
    ],
  };

  expect(problemOf(value)).toBe("a[0].b: expected a value that can be read, found one that throws: not now");
});

test.for([
  ["a getter that throws nothing", () => throwing(undefined)],
  ["a getter that throws what cannot be shown", () => throwing(Object.create(null))],
  ["a proxy that was revoked", () => revoked({})],
  ["a list that was revoked", () => revoked([])],
  ["a proxy without keys", () => new Proxy({}, { ownKeys: fail })],
  ["a proxy without a prototype", () => new Proxy({}, { getPrototypeOf: fail })],
  ["a proxy whose values throw", () => new Proxy({ a: 1 }, { get: fail })],
  ["a deep proxy that throws", () => [[[new Proxy({ a: 1 }, { getOwnPropertyDescriptor: fail })]]]],
  ["an instance whose constructor throws", () => Object.create(new Proxy({}, { get: fail })) as object],
] as const)("copyJson() refuses %s", ([, make]) => {
  expect(problemOf(make())).toMatch(/expected a value that can be read, found one that throws: /u);
});

test("copyJson() can be used by a getter of the value that it copies", () => {
  const value = {
    get a(): unknown {
      return copyJson({ b: [1, 2] }, limits);
    },
    c: 3,
  };

  expect(copyJson(value, limits)).toMatchObject({ ok: true, value: { a: { ok: true, value: { b: [1, 2] } }, c: 3 } });
});

test("copyJson() never throws, whatever it is given, and gives JSON or a problem", () => {
  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    stringUnit: "binary",
  });
  fc.assert(
    fc.property(anything, (value) => {
      const copy = copyJson(value, limits);

      if (copy.ok) expect(JSON.parse(JSON.stringify(copy.value))).toEqual(copy.value);
      else expect(copy.reason).toBe("not-json");
    }),
    { numRuns: 1000 },
  );
});

test("copyJson() shortens keys in the path of a problem", () => {
  const key = "k".repeat(500_000);

  expect(problemOf({ [key]: { b: NaN } })).toBe(`["${"k".repeat(120)}…"].b: expected a finite number, found NaN`);
});

test("cloneJson() copies JSON at every level", () => {
  const value: JsonValue = { a: [{ b: null }], c: "d" };

  const clone = cloneJson(value);

  expect(clone).toEqual(value);
  expect(clone).not.toBe(value);
  expect((clone as { a: unknown[] }).a[0]).not.toBe((value as { a: unknown[] }).a[0]);
});

test.for([
  [[], ""],
  [["a"], "a"],
  [["filters", 0, "size"], "filters[0].size"],
  [[0, 1], "[0][1]"],
  [["größe", "漢字", "$ref", "a-b", "_c"], "größe.漢字.$ref.a-b._c"],
  [["a b"], '["a b"]'],
  [["a", "b.c", "d"], 'a["b.c"].d'],
  [["0"], '["0"]'],
  [[""], '[""]'],
  [['quote"', "new\nline", "\u202eevil"], '["quote\\""]["new\\nline"]["\\u202eevil"]'],
  [["k".repeat(65)], `["${"k".repeat(65)}"]`],
] as const)("toPath(%j) is %j", ([steps, path]) => {
  expect(toPath(steps)).toBe(path);
});

test.for<[what: string, make: () => unknown, text: string]>([
  ["a text", () => "a", '"a"'],
  ["nothing", () => undefined, "nothing"],
  ["null", () => null, "null"],
  ["a number", () => 1.5, "1.5"],
  ["NaN", () => NaN, "NaN"],
  ["true", () => true, "true"],
  ["a BigInt", () => 10n, 'the BigInt "10"'],
  ["an empty list", () => [], "an empty list"],
  ["a list", () => [1, 2], "a list of 2"],
  ["an object", () => ({}), "an object"],
  ["a Date", () => new Date(0), "a Date (give its toISOString())"],
  ["a symbol", () => Symbol("a"), "a symbol"],
  ["a function", () => fail, "a function"],
  ["an object that throws", () => revoked({}), "an object that cannot be read"],
  ["a long text", () => "a".repeat(10_000_000), `"${"a".repeat(120)}…"`],
  ["a long BigInt", () => 2n ** 1000n, `the BigInt "${String(2n ** 1000n).slice(0, 120)}…"`],
])("showValue() shows %s", ([, make, text]) => {
  expect(showValue(make())).toBe(text);
});

test("isRecord() tells objects with parts from lists, instances and everything else", () => {
  expect([{}, Object.create(null), runInNewContext("({})")].map(isRecord)).toEqual([true, true, true]);
  expect([[], new Map(), Object.create({}), null, "a", undefined].map(isRecord)).toEqual(Array(6).fill(false));
});

function problemOf(value: unknown): string {
  const copy = copyJson(value, limits);
  if (copy.ok || copy.reason !== "not-json") throw new Error("There is no problem");
  const { path, expected, found } = copy.problem;
  return `${path === "" ? "" : `${path}: `}expected ${expected}, found ${found}`;
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function throwing(cause: unknown): object {
  return Object.defineProperty({}, "a", {
    enumerable: true,
    get() {
      throw cause;
    },
  });
}

function fail(): never {
  throw new Error("trapped");
}
