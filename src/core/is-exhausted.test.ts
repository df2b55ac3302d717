import { expect, test } from "vitest";

import { isExhausted } from "./error-texts.ts";

test.for([
  [Object.assign(new Error("x"), { code: "EMFILE" }), true],
  [Object.assign(new Error("x"), { code: "ENFILE" }), true],
  [Object.assign(new Error("x"), { code: "ENOENT" }), false],
  [new Error("EMFILE"), false],
  [{ code: "EMFILE" }, false],
] as const)("isExhausted(%j) is %s", ([cause, expected]) => {
  expect(isExhausted(cause)).toBe(expected);
});
