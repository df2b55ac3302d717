import { expect, test } from "vitest";

import { fitsVersion } from "./python-installer.ts";

test.for([
  ["", true],
  [">=3.11", true],
  [">=3.11.2", true],
  [">=3.12", false],
  [">=3.9,<3.11", false],
  [">3.11", true],
  ["<=3.11", false],
  ["~=3.9", true],
  ["~=3.11.0", true],
  ["~=3.10.0", false],
  ["==3.11.*", true],
  ["==3.11", false],
  ["!=3.11.*", false],
  ["!=3.11", true],
  ["what", true],
] as const)("fitsVersion() of 3.11.2 in %j is %s", ([specifier, fits]) => {
  expect(fitsVersion("3.11.2", specifier)).toBe(fits);
});
