import fc from "fast-check";
import { expect, test } from "vitest";

import { isKitbagError } from "./errors.ts";
import { isName, parseAddress, toAddress, toWireName } from "./names.ts";

test.for(["a", "0", "read-issue", "a.b", "a_b", "A1", "a--b", "constructor", "toString", "a".repeat(64)])(
  "isName(%j) is true",
  (name) => {
    expect(isName(name)).toBe(true);
  },
);

test.for([
  "",
  " ",
  "-a",
  "_a",
  ".",
  "..",
  ".a",
  "a b",
  "a/b",
  "a@1",
  "a:b",
  "a\n",
  "a\0",
  "ä",
  "а", // Cyrillic
  "a\u200b",
  "__proto__",
  "a".repeat(65),
  "a".repeat(10_000_000),
  1,
  null,
  undefined,
  ["a"],
  { toString: () => "a" },
])("isName() is false for %j", (name) => {
  expect(isName(name)).toBe(false);
});

test.for([
  ["tool", { name: "tool" }],
  ["owner/tool", { owner: "owner", name: "tool" }],
  ["plugin:owner/tool", { owner: "owner", name: "tool" }],
  ["plugin:tool", { name: "tool" }],
  ["tool@1.2.0", { name: "tool", version: "1.2.0" }],
  ["owner/tool@1.0.0-beta.1+5", { owner: "owner", name: "tool", version: "1.0.0-beta.1+5" }],
  ["constructor/toString", { owner: "constructor", name: "toString" }],
] as const)("parseAddress(%j) takes the address apart", ([text, address]) => {
  expect(parseAddress(text)).toEqual(address);
});

test.for<[what: string, text: unknown]>([
  ["an empty text", ""],
  ["a slash", "/"],
  ["no owner", "/tool"],
  ["no tool", "owner/"],
  ["three parts", "a/b/c"],
  ["no version", "tool@"],
  ["two versions", "tool@1@2"],
  ["a version of other characters", "tool@1 2"],
  ["a version that is too long", `tool@${"1".repeat(65)}`],
  ["another scheme", "file:owner/tool"],
  ["two plugins", "plugin:plugin:a/b"],
  ["a space", "my tool"],
  ["a line end", "tool\n"],
  ["the way up", "../tool"],
  ["__proto__", "__proto__/tool"],
  ["a text of 10 MB", "a".repeat(10_000_000)],
  ["many slashes", "/".repeat(1_000_000)],
  ["a number", 1],
  ["nothing", undefined],
  ["an object without a prototype", Object.create(null)],
])("parseAddress() refuses %s", ([, text]) => {
  let thrown: unknown;
  try {
    parseAddress(text as string);
  } catch (cause) {
    thrown = cause;
  }

  expect(isKitbagError(thrown, "address-invalid")).toBe(true);
});

test("parseAddress() says how an address is written", () => {
  expect(() => parseAddress("my tool")).toThrowErrorMatchingInlineSnapshot(
    `[KitbagError: Cannot read the address "my tool": write "tool" or "owner/tool", in letters, digits, ".", "_" and "-"]`,
  );
});

test("parseAddress() reads back what toAddress() wrote, with or without owner and version", () => {
  fc.assert(
    fc.property(fc.option(name(), { nil: undefined }), name(), fc.boolean(), (owner, tool, isVersioned) => {
      const text = toAddress(owner, tool) + (isVersioned ? "@1.2.3" : "");

      const { owner: foundOwner, name: foundName, version } = parseAddress(text);

      expect([foundOwner, foundName, version]).toEqual([owner, tool, isVersioned ? "1.2.3" : undefined]);
    }),
    { numRuns: 1000 },
  );
});

test.for([
  ["pdf/extract", "pdf__extract"],
  ["extract", "extract"],
  ["a-b/c_d", "a-b__c_d"],
] as const)("toWireName(%j) is %j", ([address, wireName]) => {
  expect(toWireName(address, () => false)).toBe(wireName);
});

test("toWireName() adds a hash where something was changed or cut, or the name is taken", () => {
  const names = [
    toWireName("a.b/c", () => false),
    toWireName(`${"a".repeat(40)}/${"b".repeat(40)}`, () => false),
    toWireName("a/b", (wireName) => wireName === "a__b"),
  ];

  expect(names).toMatchInlineSnapshot(`
    [
      "a_b__c_07v6p45",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa__bbbbbbbbbbbbbb_1uteoy5",
      "a__b_1424v9e",
    ]
  `);
});

test("toWireName() is the same each time", () => {
  expect(toWireName("a.b/c", () => false)).toBe(toWireName("a.b/c", () => false));
});

test("toWireName() goes on until a name is free", () => {
  const taken = new Set<string>();
  for (let count = 0; count < 100; count++) taken.add(toWireName("a/b", (wireName) => taken.has(wireName)));

  expect(taken.size).toBe(100);
});

test("toWireName() gives thousands of addresses names that are different, short and of the right characters", () => {
  const parts = ["a", "a.", "a_", "a__", "b", "__", ".", "-", "x".repeat(30)];
  const similar = fc
    .array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 })
    .map((list) => `n${list.join("")}`);
  const someName = fc.oneof(name(), similar.filter(isName));
  const addresses = fc.uniqueArray(
    fc.tuple(fc.option(someName, { nil: undefined }), someName).map(([owner, tool]) => toAddress(owner, tool)),
    { minLength: 3000, maxLength: 3000, size: "max" },
  );

  fc.assert(
    fc.property(addresses, (all) => {
      const byWireName = new Map<string, string>();
      for (const address of all)
        byWireName.set(
          toWireName(address, (taken) => byWireName.has(taken)),
          address,
        );

      expect([...byWireName.values()].toSorted()).toEqual(all.toSorted());
      expect([...byWireName.keys()].filter((wireName) => !/^[a-zA-Z0-9_-]{1,64}$/u.test(wireName))).toEqual([]);
    }),
    { numRuns: 3 },
  );
});

function name(): fc.Arbitrary<string> {
  return fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/u);
}
