import fc from "fast-check";
import { expect, test } from "vitest";

import { isKitbagError } from "../../core/errors.ts";
import { countText } from "../tokens/count-text.ts";
import { compressText } from "./compress-text.ts";

const log = Array.from({ length: 400 }, (_, line) =>
  line === 250
    ? "ERROR payment pay-3 answered 502 for invoice 88213"
    : `INFO request ${line} served in ${line % 30} ms`,
).join("\n");

test("compressText() leaves a short text alone", () => {
  expect(compressText("Hello", { maxTokens: 64 })).toMatchObject({ text: "Hello", kept: 1, of: 1 });
});

test("compressText() keeps what stands out, what is asked about, the beginning and the end, word for word and in order", () => {
  const plain = compressText(log, { maxTokens: 200 });
  const asked = compressText(log, { maxTokens: 200, query: "How long did request 317 take?" });

  expect(plain.text).toContain("\n…\nERROR payment pay-3 answered 502 for invoice 88213\n…\n");
  expect(plain.text).toContain("\nINFO request 0 served in 0 ms\n");
  expect(plain.text).toMatch(/INFO request 399 served in 9 ms$/u);
  expect(asked.text).toContain("INFO request 317 served in 17 ms");
  expect(plain.text).toMatch(/^\[\d+ of 400 lines are shown, word for word; … is where others are left out\]\n/u);
});

test("compressText() takes records out of JSON, each with its place", () => {
  const orders = Array.from({ length: 300 }, (_, index) => ({
    id: index,
    thing: index === 57 ? "sofa" : "lamp",
    tags: [],
  }));

  const { text, of } = compressText(JSON.stringify({ shop: "x", orders }), {
    maxTokens: 150,
    query: "who ordered a sofa?",
  });

  expect(text).toContain('orders[57]: {"id":57,"thing":"sofa","tags":[]}');
  expect(text).toContain('shop: "x"');
  expect(of).toBe(301);
});

test("compressText() says the same line once", () => {
  const text = `${"The same again.\n".repeat(500)}But this is new.`;

  expect(compressText(text, { maxTokens: 100 }).text.match(/The same again/gu)).toHaveLength(1);
});

test("compressText() keeps within any limit, cuts no line, and gives the same for the same", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 60 }), { maxLength: 80 }),
      fc.integer({ min: 64, max: 300 }),
      fc.string(),
      (lines, maxTokens, query) => {
        const text = lines.join("\n");

        const made = compressText(text, { maxTokens, query });

        expect(made.tokensAfter).toBeLessThanOrEqual(maxTokens);
        expect(countText(made.text).usual).toBe(made.tokensAfter);
        expect(compressText(text, { maxTokens, query })).toEqual(made);
      },
    ),
    { numRuns: 200 },
  );
});

test.for([
  ["a line without end", "x".repeat(2_000_000)],
  ["deep JSON", `${"[".repeat(5000)}${"]".repeat(5000)}`],
  ["many lines", "a b c\n".repeat(300_000)],
  ["JSON that ends early", `[${'{"a":1},'.repeat(100_000)}`],
] as const)("compressText() takes its time in proportion to %s", ([, text]) => {
  expect(compressText(text, { maxTokens: 200, query: "a" }).tokensAfter).toBeLessThanOrEqual(200);
});

test.for([0, 63, Number.NaN, "200"])("compressText() refuses the limit %s", (maxTokens) => {
  try {
    compressText("x", { maxTokens: maxTokens as number });
    expect.unreachable();
  } catch (cause) {
    expect(isKitbagError(cause, "option-invalid") && cause.details.option).toBe("maxTokens");
  }
});
