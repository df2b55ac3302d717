import { execFileSync } from "node:child_process";

import fc from "fast-check";
import { expect, test } from "vitest";

import { applySettings, parseFlags } from "./parse-flags.ts";
import { renderCall } from "./describe-flags.ts";

const schema = {
  type: "object",
  properties: {
    count: { type: "integer" },
    text: { type: "string" },
    tags: { type: "array", items: { type: "string" } },
    isOpen: { type: "boolean" },
    filter: { type: "object", properties: { size: { type: "integer" } } },
  },
};

test.for([
  [{ count: 3, text: "a b" }, "kitbag call add --count 3 --text 'a b'"],
  [{ tags: ["a", "b"], isOpen: false }, "kitbag call add --tags a --tags b --no-is-open"],
  [{ isOpen: true }, "kitbag call add --is-open"],
  [{ text: "--x" }, "kitbag call add --text=--x"],
  [{ text: "it's" }, String.raw`kitbag call add --text 'it'\''s'`],
  [{ text: "" }, "kitbag call add --text ''"],
  [{ filter: { size: 3 } }, `kitbag call add --filter '{"size":3}'`],
  [{ tags: [] }, `kitbag call add --input '{"tags":[]}'`],
  [{ tags: ['["x"]'] }, `kitbag call add --input '{"tags":["[\\"x\\"]"]}'`],
  [{ other: 1 }, `kitbag call add --input '{"other":1}'`],
  [{}, "kitbag call add"],
] as const)("renderCall() writes %j", ([input, line]) => {
  expect(renderCall("add", schema, input)).toBe(line);
});

test("renderCall() writes lines that say exactly the input, also behind a shell", () => {
  const input = fc.record(
    {
      count: fc.maxSafeInteger(),
      text: fc.string({ unit: "binary-ascii" }).filter((text) => !text.includes("\0")),
      tags: fc.array(fc.string({ unit: "grapheme" })),
      isOpen: fc.boolean(),
    },
    { requiredKeys: [] },
  );

  fc.assert(
    fc.property(input, (value) => {
      const line = renderCall("add", schema, value);

      const [, , , ...words] = runShell(line);
      const said = words[0] === "--input" ? JSON.parse(words[1] ?? "") : applySettings({}, parseFlags(schema, words));
      expect(said).toEqual({ ...value });
    }),
    { numRuns: 50 },
  );
});

/** What a real shell makes of a line. */
function runShell(line: string): string[] {
  const printed = execFileSync("sh", ["-c", `for word in ${line}; do printf '%s\\0' "$word"; done`]);
  return printed.toString("utf8").split("\0").slice(0, -1);
}
