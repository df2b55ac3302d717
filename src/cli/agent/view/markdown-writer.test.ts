import { expect, test } from "vitest";

import { toPrintable } from "../../printable.ts";
import { textWidth } from "../../render.ts";
import { createMarkdownWriter } from "./markdown-writer.ts";

test("createMarkdownWriter() shows headings, lists, quotes, emphasis, code and links as they are meant", () => {
  const text = `# A title
Some **bold text**, *slanted* and \`code\`, ~~gone~~.

- first [link](https://example.com)
  1. inner __strong__
> quoted _words_
---
`;

  expect(show(text, 100)).toBe(`{bold:A} {bold:title}
Some {bold:bold} {bold:text}, {italic:slanted} and {cyan:code}, {strikethrough:gone}.

{dim:• }first {underline:link} {dim:(https://example.com)}
  {dim:1. }inner {bold:strong}
{dim:│ }quoted {italic:words}
{dim:────────────────────────────────────────}
`);
});

test("createMarkdownWriter() leaves code and tables as they are", () => {
  const text = `\`\`\`ts
const a = **b** + _c_;   // a comment that is longer than the line
# no heading
\`\`\`
| a | **b** | a cell that is longer than the line |
`;

  expect(show(text)).toBe(`{dim:\`\`\`ts}
{cyan:const a = **b** + _c_;   // a comment that is longer than the line}
{cyan:# no heading}
{dim:\`\`\`}
| a | **b** | a cell that is longer than the line |
`);
});

test.for([
  "2 * 3 * 4 = 24",
  "snake_case_name and __init__.py_",
  "a ** b",
  "an *open mark",
  "5 > 3, #1, [1], array[0], f(x)[1](2 3)",
  "`open code",
  "**",
  "C:\\dir\\*.txt and ~/home",
  "-5 degrees, 3.5 metres",
  "a * b and c* d",
])("createMarkdownWriter() shows %s as it is", (text) => {
  expect(show(`${text}\n`, 100)).toBe(`${text}\n`);
});

test("createMarkdownWriter() wraps at words, below what a list or a quote begins with", () => {
  expect(show("one two three four five\n")).toBe("one two three four\nfive\n");
  expect(show("- one two three four five\n")).toBe("{dim:• }one two three four\n  five\n");
  expect(show("> one two three four five\n")).toBe("{dim:│ }one two three four\n{dim:│ }five\n");
  expect(show("**one two three four** five\n")).toBe("{bold:one} {bold:two} {bold:three} {bold:four}\nfive\n");
  expect(show(`a ${"x".repeat(30)} b\n`)).toBe(`a\n${"x".repeat(30)}\nb\n`);
  expect(show("日本語 日本語 日本語 日本語\n")).toBe("日本語 日本語 日本語\n日本語\n");
});

const article = `# Title of it

A paragraph with **bold words in it**, \`some code\`, a [link](https://example.com/a_b) and *more*. It is long.

1. one
2. two \`x\`

\`\`\`sh
kitbag run "a  b"
\`\`\`
| a | b |
|---|---|
Last *line
`;

test("createMarkdownWriter() shows the same however the answer is cut into pieces", () => {
  const whole = show(article);

  for (let size = 1; size < 12; size++) {
    const pieces = Array.from({ length: Math.ceil(article.length / size) }, (_, index) =>
      article.slice(index * size, (index + 1) * size),
    );
    expect(showPieces(pieces)).toBe(whole);
  }
});

test("createMarkdownWriter() shows a word as soon as it is whole, and marked text when its mark ends", () => {
  const shown: string[] = [];
  const writer = createMarkdownWriter({ ...plain, print: (text) => void shown.push(text), columns: 80 });

  for (const piece of ["He", "llo there ", "**all", " of", " you** ", "now"]) writer.write(piece);

  expect(shown.join("")).toBe("Hello there {bold:all} {bold:of} {bold:you}");
  writer.endLine();
  writer.endLine();
  expect(shown.join("")).toBe("Hello there {bold:all} {bold:of} {bold:you} now\n");
});

test("createMarkdownWriter() lets nothing through that a terminal would do", () => {
  const evil = "\u001B]0;x\u0007\u001B[2J\u202E\u2028\u000B\u0085";
  const texts = [evil, `# ${evil}`, `- ${evil}`, `\`${evil}\``, `**a${evil}b**`, `[a](${evil})`, `> ${evil}`];

  const shown = show([...texts, "```", evil, "```", `| ${evil}`, `${evil}- a`, ""].join("\n"));

  expect(shown).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/u);
});

test("createMarkdownWriter() takes its time in proportion to what there is to show", () => {
  const hostile = ["*a ", "`a ", "[a](", "**", "_a_b", "> "].map((mark) => mark.repeat(40_000));

  for (const text of hostile) expect(textWidth(show(`${text}\n`))).toBeGreaterThan(0);
});

const plain = {
  toShown: toPrintable,
  style: (style: unknown, text: string) => `{${[style].flat().join("+")}:${text}}`,
};

function show(text: string, columns = 20): string {
  return showPieces([text], columns);
}

function showPieces(pieces: readonly string[], columns = 20): string {
  let shown = "";
  const writer = createMarkdownWriter({ ...plain, print: (text) => void (shown += text), columns });
  for (const piece of pieces) writer.write(piece);
  writer.endLine();
  return shown;
}
