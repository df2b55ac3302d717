import { expect, test } from "vitest";

import type { Diagnostic } from "../../core/diagnostics.ts";
import { firstFinding, whySkipped } from "./render-diagnostics.ts";

test("firstFinding() is the worst, and of several the first", () => {
  const diagnostics = [finding("info", "a"), finding("warning", "b"), finding("error", "c"), finding("error", "d")];

  expect(firstFinding({ diagnostics })?.message).toBe("c");
  expect(firstFinding({ diagnostics: [] })).toBeUndefined();
});

test.for([
  ["The file is empty", "skipped, because the file is empty"],
  ["SKILL.md is larger than 1 MiB", "skipped, because SKILL.md is larger than 1 MiB"],
  ["Skipped, because another goes before it", "skipped, because another goes before it"],
  ["A name is missing", "skipped, because a name is missing"],
  ['"X" cannot be a name', 'skipped, because "X" cannot be a name'],
])("whySkipped() turns %j into a clause", ([message = "", expected]) => {
  expect(whySkipped({ diagnostics: [finding("info", "Never mind"), finding("error", message)] })).toBe(expected);
});

test("whySkipped() says so when nobody knows", () => {
  expect(whySkipped({ diagnostics: [] })).toBe("skipped, because the reason is not known");
});

function finding(severity: Diagnostic["severity"], message: string): Diagnostic {
  return { severity, code: "x", message, file: "SKILL.md" };
}
