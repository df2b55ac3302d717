import fc from "fast-check";
import { expect, test } from "vitest";

import { parseSkillDocument } from "./parse-skill-document.ts";
import { repairFrontMatter } from "./repair-front-matter.ts";

test("repairFrontMatter() changes nothing that parses", () => {
  const block = 'name: x\ndescription: "a: b"\nmetadata:\n  c: d\nlist:\n  - e\n';

  expect(repairFrontMatter(block)).toEqual({ text: block, repairs: [] });
});

test("repairFrontMatter() keeps the number of lines", () => {
  const repaired = repairFrontMatter("description: a: b\n  c: d\n\n  e\nname: x\n");

  expect(repaired?.text.split("\n")).toEqual(['description: "a: b c: d e"', "", "", "", "name: x", ""]);
});

test("repairFrontMatter() says what to write instead", () => {
  const repaired = repairFrontMatter("description: Use when: it rains\n");

  expect(repaired?.repairs).toMatchObject([
    { code: "yaml-unquoted", line: 1, column: 14, cure: 'Write: description: "Use when: it rains"' },
  ]);
});

test("repairFrontMatter() gives up on more keys than anybody writes", () => {
  expect(repairFrontMatter("a: b: c\n".repeat(201))).toBeUndefined();
});

test("repairFrontMatter() makes a text that needs quotes equal to the same text in quotes", () => {
  const text = fc
    .array(
      fc.constantFrom(
        "Use",
        "when:",
        "it's",
        '"so"',
        "#1",
        "a: b",
        "[x]",
        "{y}",
        "@me",
        "- z",
        "*",
        "&",
        "|",
        ">",
        "%",
        "日本:",
        "\\[",
        "`c`",
        "!d",
      ),
      {
        minLength: 1,
        maxLength: 8,
      },
    )
    .map((words) => words.join(" "));
  let repaired = 0;
  fc.assert(
    fc.property(text, (description) => {
      const raw = parseSkillDocument(toFile(description));
      const isRepaired = raw.diagnostics.some(({ code }) => code === "yaml-unquoted");
      if (!isRepaired) return;
      repaired++;

      const quoted = parseSkillDocument(toFile(JSON.stringify(withoutOuterQuotes(description))));

      expect(raw.document).toEqual(quoted.document);
    }),
    { numRuns: 3000 },
  );
  expect(repaired).toBeGreaterThan(500);
});

test("repairFrontMatter() makes a text behind | equal to the same text in quotes", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("|", ">", "|-", ">-", "|+"),
      fc.stringMatching(/^[a-z][a-z :#'"-]{0,40}[a-z]$/u),
      (sign, description) => {
        const raw = parseSkillDocument(toFile(`${sign} ${description}`));

        const quoted = parseSkillDocument(toFile(JSON.stringify(description)));

        expect(raw.document).toEqual(quoted.document);
        expect(raw.diagnostics).toMatchObject([{ code: "yaml-block-inline", line: 3 }]);
      },
    ),
  );
});

function toFile(description: string): string {
  return `---\nname: x\ndescription: ${description}\nlicense: MIT\n---\nBody\n`;
}

function withoutOuterQuotes(text: string): string {
  return /^".*"$/u.test(text) && text.length > 1 ? text.slice(1, -1).replaceAll('\\"', '"') : text;
}
