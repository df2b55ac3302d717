import { expect, test } from "vitest";

import { toPlainText } from "./to-plain-text.ts";

test.for([
  ["plain\ttext\nin lines\n", "plain\ttext\nin lines\n"],
  ["\u001B[1;31mred\u001B[0m \u001B]8;;http://a.example\u0007link\u001B]8;;\u0007", "red link"],
  ["a\r\nb\rc\fd", "a\nb\nc\nd"],
  ["a\u0000b\u0008c\u007Fd\u009Be\u001B", "abcde"],
  ["a\u200Bb\u202Ec\u2066d\uFEFFe", "abcde"],
  ["a\u{E0041}\u{E0042}b", "ab"],
  ["a\u{E0100}\u{E0101}\u{E0102}\u{E0103}\u{E0104}b", "ab"],
  ["👩‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿 می‌خواهم", "👩‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿 می‌خواهم"],
] as const)("toPlainText() makes of %j what can be seen", ([text, plain]) => {
  expect(toPlainText(text)).toBe(plain);
});

test("toPlainText() takes little time for a long text", () => {
  const started = performance.now();

  expect(toPlainText("\u001B[31mx\u200B\r\n".repeat(500_000))).toBe("x\n".repeat(500_000));
  expect(performance.now() - started).toBeLessThan(30_000);
});
