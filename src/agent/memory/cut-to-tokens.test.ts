import fc from "fast-check";
import { expect, test } from "vitest";

import { countText } from "../../models/tokens/count-text.ts";
import { cutToTokens } from "./message-text.ts";

const count = (text: string): number => countText(text).usual;

test("cutToTokens() leaves a text alone that is short enough", () => {
  expect(cutToTokens("Hello", 10, count)).toBe("Hello");
});

test("cutToTokens() keeps the beginning and the end, and says how much is missing", () => {
  expect(cutToTokens(`BEGIN ${"word ".repeat(1000)}END`, 60, count)).toMatch(
    /^BEGIN (?:word ?)+\n\[… 4,\d{3} characters are left out here …\]\n[word ]+END$/u,
  );
});

test("cutToTokens() keeps within any limit, and cuts no character in two", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.nat(200), (text, most) => {
      const cut = cutToTokens(text, most, count);

      expect(count(cut)).toBeLessThanOrEqual(most);
      expect(cut.isWellFormed()).toBe(true);
    }),
    { numRuns: 500 },
  );
});
