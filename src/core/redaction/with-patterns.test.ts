import { expect, test } from "vitest";

import { createRedactor } from "../redactor.ts";
import { withPatterns } from "./redact.ts";

const secrets = createRedactor({ WORD: "swordfish" });
const text = "swordfish of ada@example.com";

test("withPatterns() takes out what is known, and then what looks like something", () => {
  const redactor = withPatterns(secrets, ["personal"]);

  expect(redactor.text(text)).toBe("[WORD] of [email]");
  expect(redactor.value({ text })).toEqual({ text: "[WORD] of [email]" });
});

test("withPatterns() finds both in a text that comes in pieces", () => {
  for (let cut = 0; cut <= text.length; cut++) {
    const stream = withPatterns(secrets, ["personal"]).stream();

    expect(stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.flush()).toBe("[WORD] of [email]");
  }
});

test("with() knows the new secrets, the old ones and the patterns", () => {
  const both = withPatterns(secrets, ["personal"]).with({ OTHER: "example" });
  const first = withPatterns(undefined, ["personal"]).with({ OTHER: "trout" });

  expect(both.text("swordfish example a@b.com")).toBe("[WORD] [OTHER] [email]");
  expect(first.text("trout a@b.com")).toBe("[OTHER] [email]");
  expect(withPatterns(undefined, ["personal"]).with({}).text("a@b.com")).toBe("[email]");
});

test("message() hides parts of what is known, and the patterns", () => {
  expect(withPatterns(secrets, ["personal"]).message("ada@example.com swordfi")).toBe("[email] [WORD…]");
  expect(withPatterns(undefined, ["personal"]).message("ada@example.com swordfi")).toBe("[email] swordfi");
});
