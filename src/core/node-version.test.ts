import { expect, test } from "vitest";

import { requireNode } from "./errors.ts";
import { isNodeSupported } from "./error-texts.ts";

test.for([
  ["20.20.2", false],
  ["22.18.9", false],
  ["22.19.0", true],
  ["23.0.0", true],
  ["24.21.0", true],
  ["", false],
  ["22", false],
] as const)("isNodeSupported(%s) is %s", ([version, expected]) => {
  expect(isNodeSupported(version)).toBe(expected);
});

test("requireNode() says which Node was found, and which is needed", () => {
  expect(() => requireNode("20.20.2")).toThrow(
    "Cannot load Kitbag on Node 20.20.2: it needs Node 22.19 or newer; install it and start the program again",
  );
});
