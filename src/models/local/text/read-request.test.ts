import { expect, test } from "vitest";

import { readRequest } from "./read-request.ts";

const today = "2026-11-16"; // a Monday

test.each([
  ["1,000 and 3.5", ["1,000=1000", "3.5=3.5"]],
  ["-5 and 2k and $7.50 and 15%", ["-5=-5", "2k=2000", "$7.50=7.5", "15%=15"]],
  ["twenty-five", ["twenty-five=25"]],
  ["a hundred and five", ["a hundred and five=105"]],
  ["two thousand three hundred", ["two thousand three hundred=2300"]],
  ["1.5 million and a dozen", ["1.5 million=1500000", "a dozen=12"]],
  ["five twenty", ["five=5", "twenty=20"]],
  ["10km", ["10=10"]],
  ["the one that is left", []],
  ["half an hour, an hour and a half", ["half an=0.5", "an=1.5"]],
  ["two and a half hours, a couple of minutes", ["two and a half=2.5", "a couple of=2"]],
  ["800x600px, but not 0x1F", ["800=800", "600=600"]],
])("readRequest() reads the numbers of %j", (text, expected) => {
  const numbers = readRequest(text).tokens.filter(({ kind }) => kind === "number");

  expect(numbers.map((token) => `${token.text}=${String(token.value)}`)).toEqual(expected);
});

test.each([
  ["2026-05-03", "2026-05-03"],
  ["3 May 2026", "2026-05-03"],
  ["3rd of May, 2026", "2026-05-03"],
  ["May 3rd, 2026", "2026-05-03"],
  ["2026/5/3", "2026-05-03"],
  ["3.5.2026", "2026-05-03"],
  ["tomorrow", "2026-11-17"],
  ["yesterday", "2026-11-15"],
  ["next friday", "2026-11-20"],
  ["last friday", "2026-11-13"],
  ["in two weeks", "2026-11-30"],
  ["3 days ago", "2026-11-13"],
  ["last month", "2026-10-16"],
  ["24 December", "2026-12-24"],
  ["the day after tomorrow", "2026-11-18"],
  ["the day before yesterday", "2026-11-14"],
  ["3 days from now", "2026-11-19"],
  ["tonight", "2026-11-16"],
  ["first of October", "2026-10-01"],
])("readRequest() reads the date %j", (text, expected) => {
  const dates = readRequest(text, today).tokens.filter(({ kind }) => kind === "date");

  expect(dates.map(({ value }) => value)).toEqual([expected]);
});

test("readRequest() knows no day for words that depend on one that nobody told", () => {
  const [token] = readRequest("tomorrow").tokens;

  expect(token).toMatchObject({ kind: "date", text: "tomorrow" });
  expect(token).not.toHaveProperty("value");
});

test.each([
  ["see https://example.com/a?b=c.", "url", "https://example.com/a?b=c"],
  ["visit example.com", "url", "example.com"],
  ["mail kim@example.com now", "email", "kim@example.com"],
  ["open ./src/a.ts", "path", "./src/a.ts"],
  ["open README.md.", "path", "README.md"],
  ["all *.json", "path", "*.json"],
  ["say 'it is' twice", "quoted", "'it is'"],
  ["say “so”", "quoted", "“so”"],
  ["with --dry-run", "flag", "--dry-run"],
  ["where status=paid", "pair", "status=paid"],
  ["give users[*].email", "selector", "users[*].email"],
  ["pages 1-3,7", "range", "1-3,7"],
  ["what is 12 * (3 + 4)?", "expression", "12 * (3 + 4)"],
  ["card 4539 1488 0343 6467", "reference", "4539 1488 0343 6467"],
  ["at 14:30", "time", "14:30"],
  ['with {"a": [1]}', "json", '{"a": [1]}'],
] as const)("readRequest() finds the value in %j", (text, kind, expected) => {
  const tokens = readRequest(text).tokens.filter((token) => token.kind === kind);

  expect(tokens.map(({ text }) => text)).toEqual([expected]);
});

test.each(["don't", "e.g. this", "and/or", "v1.0", "it's"])("readRequest() finds no value in %j", (text) => {
  const kinds = new Set(readRequest(text).tokens.map(({ kind }) => kind));

  expect([...kinds].filter((kind) => kind !== "word" && kind !== "mark")).toEqual([]);
});

test("readRequest() covers every character but spaces, in order", () => {
  const text = "“{[(`'\"--a=1,2..3/4 \u0000\u202E😀\uD800 ```x` 1-2-3 $. @@ a[b[c %";

  const { tokens } = readRequest(text);

  const covered = tokens.map(({ start, end }) => text.slice(start, end)).join("");
  expect(covered.replaceAll(/\s/gu, "")).toBe(text.replaceAll(/\s/gu, ""));
});

test.each([
  ["run SELECT count(*) FROM users WHERE age > 30", ["sql SELECT count(*) FROM users WHERE age > 30"]],
  ["select a, b from t on the sales database", ["sql select a, b from t"]],
  ["select the rows from the list", []],
  ["run ls -la | grep foo, then stop", ["command ls -la | grep foo"]],
  ["run make and go home", []],
  [String.raw`lines like ^\d+$ in a.txt`, [String.raw`regex ^\d+$`]],
  [String.raw`C:\docs\data.txt, items[0].name and *.ts`, []],
])("readRequest() takes what is written in a formal language in %j as one piece", (text, expected) => {
  const pieces = readRequest(text).tokens.filter(({ kind }) => /^(?:sql|command|regex)$/u.test(kind));

  expect(pieces.map((token) => `${token.kind} ${token.text}`)).toEqual(expected);
});
