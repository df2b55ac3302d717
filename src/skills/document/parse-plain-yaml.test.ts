import fc from "fast-check";
import { expect, test } from "vitest";
import { isMap, parseDocument } from "yaml";

import { convertYaml } from "./convert-yaml.ts";
import type { Field } from "./front-matter.ts";
import { parsePlainYaml } from "./parse-plain-yaml.ts";
import { createReporter } from "./reporter.ts";

test("parsePlainYaml() reads what nearly every skill has", () => {
  const fields = parsePlainYaml(
    'name: x\n# a comment\n\ndescription: Does it\nmetadata:\n  a: "b"\nlist:\n- c\n- 1.5\ntext: >-\n  d\n  e\n',
  );

  expect(withoutPlaces(fields)).toEqual([
    ["name", "x"],
    ["description", "Does it"],
    ["metadata", [["a", "b"]]],
    ["list", ["c", 1.5]],
    ["text", "d e"],
  ]);
});

const others = [
  ["brackets", "a: [b]\n"],
  ["a colon in a text", "a: b: c\n"],
  ["a comment behind a text", "a: b # c\n"],
  ["an escape", 'a: "b\\n"\n'],
  ["a text in two lines", "a: b\n  c\n"],
  ["a key that occurs twice", "a: b\na: c\n"],
  ["a key that occurs twice below another", "m:\n  a: b\n  a: c\n"],
  ["an anchor", "a: &b c\n"],
  ["a tag", "a: !!str c\n"],
  ["tabs", "a:\tb\n"],
  ["a number that takes more than a look", "a: 1e3\n"],
  ["a block with a blank line", "a: |\n  b\n\n  c\n"],
  ["a block with a deeper line", "a: >\n  b\n    c\n"],
  ["a map in a map", "a:\n  b:\n    c: d\n"],
  ["the key __proto__", "__proto__: a\n"],
  ["text without a key", "a\n"],
  ["nothing", "\n# a\n"],
] as const;

test.for(others)("parsePlainYaml() leaves %s to the whole parser", ([, block]) => {
  expect(parsePlainYaml(block)).toBeUndefined();
});

test("parsePlainYaml() answers what the whole parser does, or nothing, for blocks that are nearly right", () => {
  const text = fc.oneof(
    { weight: 6, arbitrary: fc.stringMatching(/^[A-Za-z0-9(./$][A-Za-z0-9 :#'",.!?()[\]-]{0,20}$/u) },
    { weight: 3, arbitrary: oddWord },
    {
      weight: 2,
      arbitrary: fc.string({ unit: "binary", maxLength: 12 }).map((word) => word.replaceAll(/[\n\r]/gu, "")),
    },
  );
  const key = fc.stringMatching(/^[a-z_][a-z0-9_-]{0,3}$/u);
  const below = (lines: string[]): string => lines.map((line) => `\n  ${line}`).join("");
  const field = fc.oneof(
    fc.tuple(key, text).map(([name, value]) => `${name}: ${value}`),
    fc
      .tuple(key, fc.array(text, { maxLength: 3 }))
      .map(([name, items]) => `${name}:${below(items.map((item) => `- ${item}`))}`),
    fc
      .tuple(key, fc.array(text, { maxLength: 3 }))
      .map(([name, items]) => [`${name}:`, ...items.map((item) => `- ${item}`)].join("\n")),
    fc
      .tuple(key, fc.array(fc.tuple(key, text), { maxLength: 3 }))
      .map(([name, pairs]) => `${name}:${below(pairs.map(([inner, value]) => `${inner}: ${value}`))}`),
    fc
      .tuple(key, fc.constantFrom("|", ">", "|-", ">-"), fc.array(text, { maxLength: 3 }))
      .map(([name, sign, lines]) => `${name}: ${sign}${below(lines)}`),
    fc.constantFrom("# comment", "", "   ", "  # deep comment"),
  );

  const compared = compare(fc.array(field, { minLength: 1, maxLength: 4 }), 15_000);

  expect(compared).toBeGreaterThan(2000);
});

test("parsePlainYaml() answers what the whole parser does, or nothing, for lines in any order", () => {
  const key = fc.constantFrom("a", "b", "name", "a-b", "_c", "true", "null", "1", "a b", '"q"', "__proto__", "é");
  const indent = fc.constantFrom("", "", "", " ", "  ", "    ");
  const line = fc.oneof(
    fc.tuple(indent, key, oddWord).map(([space, name, text]) => `${space}${name}: ${text}`),
    fc.tuple(indent, key).map(([space, name]) => `${space}${name}:`),
    fc.tuple(indent, oddWord).map(([space, text]) => `${space}- ${text}`),
    fc.tuple(indent, oddWord).map(([space, text]) => `${space}${text}`),
    fc.constant(""),
  );

  const compared = compare(fc.array(line, { minLength: 1, maxLength: 6 }), 10_000);

  expect(compared).toBeGreaterThan(100);
});

const oddWord = fc.constantFrom(
  ...[
    "a",
    "b c",
    "true",
    "null",
    "~",
    "1",
    "01",
    "1.0",
    "1.2.3",
    "-",
    "- x",
    "#x",
    "x #y",
    "x: y",
    "x:y",
    ":",
    "é",
    "日本",
    "+1",
    ".5",
  ],
  ...[
    '"q"',
    "'q'",
    '"q',
    "''",
    '""',
    "'it''s'",
    '"a\\nb"',
    "[x]",
    "{x: y}",
    "|",
    ">",
    "|-",
    ">-",
    ">+",
    "@x",
    "%x",
    "*x",
    "&x",
    "!x",
  ],
  ...[
    "?",
    "? x",
    "x ",
    " x",
    "---x",
    "...",
    "0x1F",
    "0o7",
    ".inf",
    "1e5",
    "12345678901234567890",
    "2024-01-01",
    "\u00A0",
    "x\u00A0",
  ],
  ...["\u2028", "\uFEFFx", "x\u0085y", "~x", "^x", "<x>", "=x", ";x", "\\x", "x,", "x]", "x}", "(x)", "$x", "x\u0000"],
);

/** Compares the two parsers on random blocks, and tells how often the fast one had an answer. */
function compare(lines: fc.Arbitrary<string[]>, numRuns: number): number {
  let compared = 0;
  fc.assert(
    fc.property(lines, fc.boolean(), (parts, ends) => {
      const block = parts.join("\n") + (ends ? "\n" : "");
      const fast = parsePlainYaml(block);
      if (fast === undefined) return;
      compared++;
      const whole = parseWhole(block);
      expect(withoutPlaces(fast), JSON.stringify(block)).toEqual(withoutPlaces(whole));
      expect(places(fast), JSON.stringify(block)).toEqual(places(whole));
    }),
    { numRuns },
  );
  return compared;
}

function parseWhole(block: string): readonly Field[] | undefined {
  const document = parseDocument(block, { prettyErrors: false, uniqueKeys: false });
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined;
  const reporter = createReporter("x");
  const fields = convertYaml(document, document.contents, () => ({ line: 1, column: 1 }), reporter);
  return reporter.list().length === 0 ? fields : undefined;
}

function withoutPlaces(fields: readonly Field[] | undefined): unknown {
  return fields?.map(({ key, value }) => [key, plainValue(value)]);
}

function plainValue(value: Field["value"]): unknown {
  if (value.kind === "list") return value.items.map(plainValue);
  if (value.kind === "map") return withoutPlaces(value.fields);
  return value.value;
}

/** Where keys and texts begin; an empty value is nowhere in particular. */
function places(fields: readonly Field[] | undefined): unknown {
  return fields?.map(({ offset, value }) => [
    offset,
    value.kind === "scalar" && value.value === null ? 0 : value.offset,
  ]);
}
