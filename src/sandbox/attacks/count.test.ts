import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { attacks } from "../../../test/support/attacks/all-attacks.ts";
import { corners } from "../../../test/support/attacks/arena.ts";

test("the README says how many attacks are run, in how many ways", () => {
  const readme = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8");
  const count = Object.values(attacks).flat().length;

  expect(readme).toContain(`${count} attacks × ${corners.length} ways`);
});

test("every attack has a name of its own", () => {
  const names = Object.values(attacks)
    .flat()
    .map(({ name }) => name);

  expect(new Set(names).size).toBe(names.length);
});
