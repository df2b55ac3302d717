import type { JsonValue } from "../../core/json.ts";

/** Keys that a store must take, and keep apart. */
export const oddKeys: readonly string[] = [
  "__proto__",
  "constructor",
  "toString",
  "a",
  "A",
  "a ",
  " a",
  " ",
  "\t\n\r",
  "\u0001",
  "%",
  "_",
  "*",
  "?",
  "[a]",
  "{a}",
  "\\",
  "/",
  "../a",
  "'; DROP TABLE kv; --",
  '"',
  "a:b",
  "\u00E9",
  "e\u0301",
  "\uFEFF",
  "\uFFFF",
  "\u{1F600}",
  "null",
  "0",
  "x".repeat(1024),
  `${"\u20AC".repeat(341)}x`,
];

/** What is not a key. */
export const wrongKeys: readonly unknown[] = [
  "",
  "\0",
  "a\0b",
  "\uD800",
  "a\uDC00b",
  "\uDE00\uD83D",
  "x".repeat(1025),
  "\u20AC".repeat(342),
  "x".repeat(10_000_000),
  5,
  null,
  undefined,
  true,
  {},
  ["a"],
  Symbol("a"),
];

/** Values that must come back as they are. */
export const jsonValues: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  5e-324,
  Number.MAX_SAFE_INTEGER,
  "",
  "null",
  "a\0b",
  "\uD800",
  "\uDC00\uD800",
  "\u{1F600}\u2028\uFEFF",
  [],
  {},
  [null, [[]], { a: [1, "1", true] }],
  { constructor: 1, prototype: { toString: 2 }, hasOwnProperty: null, "": "empty", "a\0b": 0, "\uD800": "half" },
  nested(128),
];

/** Makes values that JSON, or a store, cannot hold. */
export function notKept(): readonly unknown[] {
  const cycle: unknown[] = [];
  cycle.push({ cycle });
  const unreadable = Object.defineProperty({}, "a", {
    enumerable: true,
    get() {
      throw new Error("this getter always throws");
    },
  });
  return [
    undefined,
    Number.NaN,
    Infinity,
    10n,
    Symbol("a"),
    () => 1,
    new Date(0),
    new Map(),
    new Uint8Array(1),
    [undefined],
    { a: Number.NaN },
    { a: { b: [() => 1] } },
    JSON.parse('{ "__proto__": 1 }'),
    cycle,
    unreadable,
    nested(129),
    nested(10_000),
    "x".repeat(33 * 1024 * 1024),
  ];
}

/** Makes a list of lists, `levels` deep. */
function nested(levels: number): JsonValue {
  let value: JsonValue = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

/** What is not a whole number from 0. */
export const notWhole: readonly unknown[] = [-1, 0.5, Number.NaN, Infinity, 2 ** 53, "1", null, 1n];
