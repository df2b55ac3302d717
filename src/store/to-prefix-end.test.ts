import { expect, test } from "vitest";

import { toPrefixEnd } from "./sorted-keys.ts";

test.for([
  ["a", "b"],
  ["run:", "run;"],
  ["az", "a{"],
  ["\ud7ff", "\ue000"],
  ["\uffff", "\u{10000}"],
  ["a\u{10ffff}\u{10ffff}", "b"],
] as const)("toPrefixEnd() case %#", ([prefix, end]) => {
  expect(toPrefixEnd(prefix)).toBe(end);
});

test.for(["", "\u{10ffff}"])("toPrefixEnd() of what may begin the last key comes after every key", (prefix) => {
  const lastKey = "\u{10ffff}".repeat(256);

  const end = toPrefixEnd(prefix);

  expect(Buffer.compare(Buffer.from(end), Buffer.from(lastKey))).toBe(1);
});
