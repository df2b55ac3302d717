import { expect, test } from "vitest";

import { toDescription } from "./describe.ts";

const table: readonly { name: string; text: string; description: string }[] = [
  { name: "one sentence", text: "Extract text from a PDF.", description: "Extract text from a PDF." },
  {
    name: "the first paragraph of several lines",
    text: "\nExtract text\nfrom a PDF.\n\nMore about it.\n",
    description: "Extract text from a PDF. More about it.",
  },
  {
    name: "a title and what explains it",
    text: "PDF tools\n=========\n\nReads and writes PDF files.",
    description: "PDF tools. Reads and writes PDF files.",
  },
  {
    name: "a long first paragraph alone",
    text: `${"word ".repeat(20)}end.\n\nSecond.`,
    description: `${"word ".repeat(20)}end.`,
  },
  { name: "what follows the name of the file", text: "extract.py - Extract text", description: "Extract text" },
  { name: "what follows the name without its ending", text: "extract: Extract text", description: "Extract text" },
  { name: "nothing of the usage", text: "Extract text.\n\nUsage:\n  extract.py <file>", description: "Extract text." },
  {
    name: "nothing of a usage on the next line",
    text: "Extract text.\nUsage: extract.py <file>",
    description: "Extract text.",
  },
  { name: "nothing of usage in Chinese", text: "提取文本\n\n用法: extract.py <文件>", description: "提取文本" },
  {
    name: "nothing of licences and editors' marks",
    text: "-*- coding: utf-8 -*-\nCopyright 2024 Someone\nLicensed under the MIT License\nExtract text",
    description: "Extract text",
  },
  {
    name: "a block comment without its stars",
    text: "*\n * Extract text.\n * @param file the file\n",
    description: "Extract text.",
  },
  { name: "a JSDoc file tag", text: "@fileoverview Extract text.", description: "Extract text." },
  {
    name: "nothing of the path of the file itself",
    text: "scripts/extract.py\nExtract text",
    description: "Extract text",
  },
  { name: "nothing of a call", text: "Extract text.\n\n    python extract.py <file>", description: "Extract text." },
  { name: "nothing when there is only usage", text: "Usage: extract.py <file>", description: "" },
  { name: "nothing when there is nothing", text: "", description: "" },
  { name: "no decoration", text: "─────────\n  Extract text\n─────────", description: "Extract text" },
];

test.for(table)("toDescription() takes $name", ({ text, description }) => {
  expect(toDescription(text, "extract.py")).toBe(description);
});

test("toDescription() cuts at a word, at 500 characters", () => {
  const description = toDescription("word ".repeat(1000));

  expect(description.length).toBeLessThanOrEqual(500);
  expect(description.endsWith("word…")).toBe(true);
});
