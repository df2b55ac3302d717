import { execFile, execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { loadSkills } from "kitbag/skills";
import { expect, test, type TestContext } from "vitest";

import type { ScriptCode } from "../src/core/script-code.ts";
import { runKitbag } from "./run-kitbag.ts";
import { createPdf, createRepository, createZip, sales, users } from "./support/example-files.ts";
import { needProgram } from "./support/need-program.ts";
import { createFolder, writeFiles } from "./support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "..");
const skills = join(root, "skills");

/** The program for each kind of script. */
const programs = { py: ["python3", "-B"], mjs: [process.execPath], ts: [process.execPath], sh: ["bash"] } as const;

test.for(scriptsOf(skills))("%s is tested here with a right and a wrong input", (script) => {
  const source = readFileSync(import.meta.filename, "utf8");

  expect(source).toContain(`"${script}"`);
});

test("kitbag check skills --spec is clean, and reads a typed tool from every script", async (context) => {
  needProgram(context, "python3");

  const run = await runKitbag(["check", skills, "--spec", "--json"]);

  const { skills: checked, summary } = JSON.parse(run.stdout) as CheckDocument;
  const tools = checked.flatMap((skill) => skill.tools);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(checked.flatMap((skill) => skill.diagnostics)).toEqual([]);
  expect(summary).toEqual({ files: 11, skills: 11, ok: 11, warning: 0, skipped: 0, tools: 25 });
  expect(tools.filter(({ confidence }) => confidence === "opaque")).toEqual([]);
  expect(tools.map(({ address }) => address)).toEqual([
    "archive-inspect/archive-list",
    "archive-inspect/archive-check",
    "archive-inspect/archive-show",
    "checksums/digest",
    "checksums/check-number",
    "csv-report/group_by",
    "csv-report/summarize",
    "git-summary/commits",
    "git-summary/hotspots",
    "git-summary/summary",
    "json-query/diff",
    "json-query/query",
    "json-query/shape",
    "license-headers/add-headers",
    "license-headers/check-headers",
    "markdown-toc/check-links",
    "markdown-toc/toc",
    "pdf-text/extract_text",
    "pdf-text/pdf_info",
    "task-list/add",
    "task-list/finish",
    "task-list/list",
    "text-stats/stats-count",
    "text-stats/stats-words",
    "text-stats/stats-readability",
  ]);
});

test.for([
  ["archive-inspect/archive-list", { archive: "a.zip", match: "*.md" }, '"name": "a.md"'],
  ["csv-report/group_by", { file: "a.csv", by: ["region"], sum: ["amount"], limit: 1 }, '"sum_amount": 1239.5'],
  ["csv-report/summarize", { file: "a.csv", columns: ["day", "region"], top: 1 }, '"type": "date"'],
  ["git-summary/summary", { repo: ".", author: "bob" }, '"commits": 1'],
  ["git-summary/commits", { limit: 1, merges: true }, '"shown": 1'],
  ["json-query/query", { file: "a.json", path: "users[?age>3].name", format: "lines" }, "Bob"],
  ["json-query/diff", { before: "a.json", after: "a.json", ignore: ["x", "y"] }, '"equal": true'],
  [
    "license-headers/add-headers",
    { license: "MIT", holder: "Ada & Co", extensions: "md", dry_run: true },
    '"dry_run": true',
  ],
  ["markdown-toc/toc", { file: "a.md", max_level: 2 }, "- [Two](#two)"],
  ["pdf-text/extract_text", { pdf: "-odd name.pdf", format: "json" }, '"text": "Hello"'],
  ["text-stats/stats-words", { file: "a.md", top: 1, phrase_length: 1, common: true }, '"words": 2'],
] as const)("%s turns %j into a command line that the script understands", async ([address, input, shown], context) => {
  needProgram(context, "python3");
  const { directory, path, interpreter, toCommand } = await findScript(address);
  const folder = createRepository();
  writeFiles(folder, {
    "a.zip": createZip({ "a.md": "x" }),
    "a.csv": sales,
    "a.json": users,
    "a.md": "# One\n\n## Two\n",
    "-odd name.pdf": createPdf([{ text: "Hello" }]),
  });
  const [program = "", ...first] = interpreter;

  const { argv, stdin = "" } = toCommand(input);
  const output = execFileSync(program, [...first, join(directory, path), ...argv], {
    cwd: folder,
    input: stdin,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: folder, PYTHONDONTWRITEBYTECODE: "1" },
  });

  expect(output).toContain(shown);
});

test("pdf-text extracts the text of a page", async (context) => {
  const folder = createFolder({ "a.pdf": createPdf([{ text: "Hello (world)" }, { text: "Page two" }]) });

  const run = await runScript(context, "pdf-text/scripts/extract_text.py", ["a.pdf"], { folder });

  expect(run).toEqual({ code: 0, stdout: "Hello (world)\n\f\nPage two\n", stderr: "" });
});

test("pdf-text extracts chosen pages as JSON with page numbers", async (context) => {
  const pages = [{ text: "one" }, { text: "two", compress: true }, { text: "three" }];
  const folder = createFolder({ "a.pdf": createPdf(pages) });

  const run = await runScript(
    context,
    "pdf-text/scripts/extract_text.py",
    ["a.pdf", "--pages", "2-", "--format", "json"],
    { folder },
  );

  expect(JSON.parse(run.stdout)).toEqual({
    pages: [
      { page: 2, text: "two" },
      { page: 3, text: "three" },
    ],
    warnings: [],
  });
});

test("pdf-text reads characters by the font's Unicode table", async (context) => {
  const folder = createFolder({ "a.pdf": createPdf([{ text: "abc", unicode: "05D0" }]) });

  const run = await runScript(context, "pdf-text/scripts/extract_text.py", ["a.pdf"], { folder });

  expect(run.stdout).toBe("אבג\n");
});

test("pdf-text says when a page has no text", async (context) => {
  const folder = createFolder({ "a.pdf": createPdf([{ text: "" }]) });

  const run = await runScript(context, "pdf-text/scripts/extract_text.py", ["a.pdf"], { folder });

  expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining("no text on page 1") as string });
});

test.for([
  ["a file that is none", { "a.pdf": "hello" }, ["a.pdf"], "it is not a PDF"],
  ["a file that is not there", {}, ["a.pdf"], "No such file"],
  ["an encrypted document", { "a.pdf": createPdf([{ text: "x" }], "/Encrypt 9 0 R") }, ["a.pdf"], "is encrypted"],
  ["pages that it has not", { "a.pdf": createPdf([{ text: "x" }]) }, ["a.pdf", "--pages", "2"], "has pages 1 to 1"],
  [
    "pages that are none",
    { "a.pdf": createPdf([{ text: "x" }]) },
    ["a.pdf", "--pages", "x"],
    "write numbers and ranges",
  ],
] as const)("pdf-text refuses %s in one line", async ([, files, words, message], context) => {
  const run = await runScript(context, "pdf-text/scripts/extract_text.py", words, { folder: createFolder(files) });

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toContain(message);
  expect(run.stderr.trim().split("\n")).toHaveLength(1);
});

test("pdf-text ends in a bounded time with a circle of pages, a bomb and a damaged file", async (context) => {
  const bomb = createPdf([{ text: "x".repeat(80_000_000), compress: true }]);
  const folder = createFolder({
    "bomb.pdf": bomb,
    "circle.pdf": "%PDF-1.4\n1 0 obj <</Pages 1 0 R /Kids [1 0 R 1 0 R]>> endobj trailer <</Root 1 0 R>>",
    "cut.pdf": createPdf([{ text: "hello" }]).subarray(0, 200),
  });

  const runs = await Promise.all(
    ["bomb.pdf", "circle.pdf", "cut.pdf"].map((file) =>
      runScript(context, "pdf-text/scripts/pdf_info.py", [file], { folder }),
    ),
  );

  expect(runs.map(({ stderr }) => stderr)).not.toContainEqual(expect.stringContaining("Traceback"));
});

test("pdf-text tells the facts about a document", async (context) => {
  const pdf = createPdf([{ text: "x" }, { text: "" }], "/Info <</Title (Caf\\351) /CreationDate (D:20240131120000)>>");
  const folder = createFolder({ "a.pdf": pdf });

  const run = await runScript(context, "pdf-text/scripts/pdf_info.py", ["a.pdf"], { folder });

  expect(JSON.parse(run.stdout)).toMatchObject({
    pages: 2,
    pages_with_text: 1,
    encrypted: false,
    title: "Café",
    author: null,
    created: "2024-01-31T12:00:00",
  });
});

test("pdf-text tells no facts about a file that is no document", async (context) => {
  const run = await runScript(context, "pdf-text/scripts/pdf_info.py", ["a.pdf"], {
    folder: createFolder({ "a.pdf": "" }),
  });

  expect(run).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("it is not a PDF") as string });
});

test("csv-report summarises every column by its type", async (context) => {
  const folder = createFolder({ "a.csv": sales });

  const run = await runScript(context, "csv-report/scripts/summarize.py", ["a.csv", "--top", "1"], { folder });

  expect(JSON.parse(run.stdout)).toEqual({
    file: "a.csv",
    rows: 4,
    columns: [
      { name: "region", type: "text", missing: 0, distinct: 2, top: [{ value: "north", count: 2 }] },
      {
        name: "amount",
        type: "number",
        missing: 1,
        distinct: 3,
        min: -2.5,
        max: 1234.5,
        mean: 412.3333333333,
        sum: 1237,
        top: [{ value: "1,234.5", count: 1 }],
      },
      {
        name: "day",
        type: "date",
        missing: 0,
        distinct: 2,
        min: "2024-01-01",
        max: "2024-01-02",
        top: [{ value: "2024-01-01", count: 2 }],
      },
    ],
  });
});

test.for([
  ["semicolons and commas in numbers", "a;b\n1;2,5\n3;4,5\n", ["--decimal", "comma", "--columns", "b"], 7],
  ["tabs and Windows line ends", "a\tb\r\n1\t2\r\n3\t4\r\n", ["--columns", "b"], 6],
  ["a byte order mark and quotes", '\uFEFFb,"c"\n"1","x, y"\n2,z\n', ["--columns", "b"], 3],
] as const)("csv-report reads %s", async ([, text, words, sum], context) => {
  const folder = createFolder({ "a.csv": text });

  const run = await runScript(context, "csv-report/scripts/summarize.py", ["a.csv", ...words], { folder });

  expect(JSON.parse(run.stdout)).toMatchObject({ rows: 2, columns: [{ name: "b", type: "number", sum }] });
});

test("csv-report groups rows and calculates", async (context) => {
  const folder = createFolder({ "a.csv": sales });

  const words = ["a.csv", "--by", "region", "--sum", "amount", "--max", "amount", "--where", "day!=2024-01-03"];
  const run = await runScript(context, "csv-report/scripts/group_by.py", words, { folder });

  expect(JSON.parse(run.stdout)).toEqual({
    groups: 2,
    shown: 2,
    result: [
      { region: "north", rows: 2, sum_amount: 1239.5, max_amount: 1234.5, skipped: 0 },
      { region: "south", rows: 2, sum_amount: -2.5, max_amount: -2.5, skipped: 0 },
    ],
  });
});

test.for([
  [
    "csv-report/scripts/summarize.py",
    ["a.csv", "--columns", "nope"],
    'there is no column "nope"; the columns are region',
  ],
  ["csv-report/scripts/summarize.py", ["empty.csv"], "the file is empty"],
  ["csv-report/scripts/summarize.py", ["binary.csv"], "codec can't decode"],
  ["csv-report/scripts/summarize.py", ["missing.csv"], "No such file"],
  ["csv-report/scripts/group_by.py", ["a.csv", "--by", "nope"], 'there is no column "nope"'],
  ["csv-report/scripts/group_by.py", ["a.csv", "--by", "region", "--where", "x"], "write COLUMN=VALUE"],
  ["csv-report/scripts/group_by.py", ["a.csv", "--by", "region", "--sort", "x"], "the fields are region, rows"],
  ["csv-report/scripts/group_by.py", ["a.csv", "--by", "region", "--delimiter", "xy"], "it must be one character"],
] as const)("csv-report: %s %j says what is wrong in one line", async ([script, words, message], context) => {
  const folder = createFolder({ "a.csv": sales, "empty.csv": "", "binary.csv": Uint8Array.of(0xff, 0xfe, 0x00, 0x81) });

  const run = await runScript(context, script, words, { folder });

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toContain(message);
  expect(run.stderr.trim().split("\n")).toHaveLength(1);
});

test("text-stats counts prose, not Markdown's code and links", async (context) => {
  const folder = createFolder({ "a.md": article });

  const run = await runScript(context, "text-stats/scripts/stats.py", ["count", "a.md"], { folder });
  const raw = await runScript(context, "text-stats/scripts/stats.py", ["count", "a.md", "--raw"], { folder });

  expect(JSON.parse(run.stdout)).toMatchObject({ words: 12, sentences: 4, paragraphs: 3, lines: 12 });
  expect(JSON.parse(raw.stdout)).toMatchObject({ words: 23 });
});

test("text-stats finds frequent words and phrases", async (context) => {
  const words = ["words", "-", "--phrase-length", "2", "--top", "1"];
  const text = "Red apple. The red apple is a RED apple, not a green one.";

  const run = await runScript(context, "text-stats/scripts/stats.py", words, { stdin: text });

  expect(JSON.parse(run.stdout)).toEqual({ words: 13, top: [{ text: "red apple", count: 3 }] });
});

test("text-stats rates how hard a text is", async (context) => {
  const script = "text-stats/scripts/stats.py";
  const easy = "The cat sat. It ran. We saw it.";
  const hard = "Notwithstanding considerable organisational complexity, interdepartmental coordination deteriorated.";

  const runs = await Promise.all(
    [easy, hard].map((text) => runScript(context, script, ["readability", "-"], { stdin: text })),
  );

  const [first, second] = runs.map(({ stdout }) => JSON.parse(stdout) as { grade_level: number });
  expect(first?.grade_level).toBeLessThan(2);
  expect(second?.grade_level).toBeGreaterThan(20);
});

test.for([
  [["readability", "empty.txt"], 1, "there are no words in it"],
  [["count", "binary"], 1, "it is not a text"],
  [["count", "missing"], 1, "No such file"],
  [["words", "empty.txt", "--top", "0"], 2, "must be 1 or more"],
  [["nope"], 2, "invalid choice"],
] as const)("text-stats %j fails with a message", async ([words, code, message], context) => {
  const folder = createFolder({ "empty.txt": "", binary: Uint8Array.of(0, 1, 2) });

  const run = await runScript(context, "text-stats/scripts/stats.py", words, { folder });

  expect(run).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) as string });
});

test("archive-inspect lists and reads without unpacking", async (context) => {
  const script = "archive-inspect/scripts/archive.py";
  const folder = createFolder({ "a.zip": createZip({ "docs/a.txt": "hello", "b.json": "{}" }) });

  const list = await runScript(context, script, ["list", "a.zip", "--match", "*.json"], { folder });
  const show = await runScript(context, script, ["show", "a.zip", "docs/a.txt", "--max-bytes", "4"], { folder });
  const check = await runScript(context, script, ["check", "a.zip"], { folder });

  expect(JSON.parse(list.stdout)).toMatchObject({ type: "zip", entries: 2, shown: [{ name: "b.json", size: 2 }] });
  expect(JSON.parse(show.stdout)).toEqual({ name: "docs/a.txt", size: 5, cut: true, text: "hell" });
  expect(check.code).toBe(0);
  expect(JSON.parse(check.stdout)).toMatchObject({ safe: true, findings: [] });
  expect(globSync("**/*", { cwd: folder })).toEqual(["a.zip"]);
});

test.for([
  ["../up.txt", "parent-path"],
  ["/etc/passwd", "absolute-path"],
  ["C:\\x", "absolute-path"],
  ["a\u202Etxt.exe", "odd-name"],
] as const)("archive-inspect calls an archive with %j unsafe", async ([name, finding], context) => {
  const folder = createFolder({ "a.zip": createZip({ [name]: "x" }) });

  const run = await runScript(context, "archive-inspect/scripts/archive.py", ["check", "a.zip", "--exit-code"], {
    folder,
  });

  expect(run.code).toBe(3);
  expect(JSON.parse(run.stdout)).toMatchObject({ safe: false, findings: [{ finding }] });
});

test.for([
  [["check", "a.txt"], "it is neither a ZIP nor a TAR archive"],
  [["list", "missing.zip"], "No such file"],
  [["show", "a.zip", "nope"], 'there is no file "nope" in it; it has a.txt'],
  [["list", "cut.zip"], "it is neither a ZIP nor a TAR archive"],
] as const)("archive-inspect %j fails with a message", async ([words, message], context) => {
  const zip = createZip({ "a.txt": "hello" });
  const folder = createFolder({ "a.txt": "hello", "a.zip": zip, "cut.zip": zip.subarray(0, 30) });

  const run = await runScript(context, "archive-inspect/scripts/archive.py", words, { folder });

  expect(run).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(message) as string });
});

test.for([
  ["users[*].name", ["Ann", "Bob"]],
  ["$.users[-1].name", ["Bob"]],
  ["users[?role=admin].name", ["Ann"]],
  ["users[?age>3].name", ["Bob"]],
  ["users[?role].name", ["Ann"]],
  ["..name", ["Ann", "Bob"]],
  ['["odd key"]', [1]],
  ["users[?name~OB].age", [4]],
  ["constructor", []],
  ["__proto__", []],
] as const)("json-query finds %s", async ([path, values], context) => {
  const folder = createFolder({ "a.json": users });

  const run = await runScript(context, "json-query/scripts/query.mjs", ["a.json", "--path", path], { folder });

  const { count, matches } = JSON.parse(run.stdout) as { count: number; matches: { value: unknown }[] };
  expect(count).toBe(values.length);
  expect(matches.map(({ value }) => value)).toEqual(values);
});

test("json-query reads JSON Lines from standard input, and prints values line by line", async (context) => {
  const words = ["-", "--path", "[*].a", "--format", "lines", "--limit", "2"];

  const run = await runScript(context, "json-query/scripts/query.mjs", words, { stdin: '{"a":1}\n{"a":"x"}\n{"a":3}' });

  expect(run).toEqual({ code: 0, stdout: "1\nx\n", stderr: "" });
});

test("json-query shows the shape of a document", async (context) => {
  const run = await runScript(context, "json-query/scripts/shape.mjs", ["-", "--depth", "3"], { stdin: users });

  expect(JSON.parse(run.stdout)).toMatchObject({
    type: "object",
    keys: {
      users: {
        type: "list",
        items: 2,
        each: { keys: ["name", "age", "role"] },
      },
      "odd key": { type: "number", examples: ["1"] },
    },
  });
});

test("json-query compares two documents", async (context) => {
  const folder = createFolder({
    "a.json": users,
    "b.json": users.replace("Ann", "Anna").replace('"odd key":1', '"new":2'),
  });

  const run = await runScript(
    context,
    "json-query/scripts/diff.mjs",
    ["a.json", "b.json", "--ignore", "name", "--exit-code"],
    {
      folder,
    },
  );
  const same = await runScript(context, "json-query/scripts/diff.mjs", ["a.json", "a.json", "--exit-code"], { folder });

  expect(run.code).toBe(3);
  expect(JSON.parse(run.stdout)).toEqual({
    equal: false,
    count: 2,
    changes: [
      { path: '["odd key"]', kind: "removed", before: 1 },
      { path: "new", kind: "added", after: 2 },
    ],
  });
  expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('"equal": true') as string });
});

test.for([
  ["json-query/scripts/query.mjs", ["a.json", "--path", "a["], "cannot read the path"],
  ["json-query/scripts/query.mjs", ["a.json", "--path", "[?]"], "cannot read the condition"],
  ["json-query/scripts/query.mjs", ["bad.json"], "JSON"],
  ["json-query/scripts/query.mjs", ["missing.json"], "no such file"],
  ["json-query/scripts/query.mjs", [], "name one file"],
  ["json-query/scripts/query.mjs", ["a.json", "--nope"], "cannot go on: Unknown option '--nope'"],
  ["json-query/scripts/query.mjs", ["deep.json", "--path", "..x"], "cannot go on"],
  ["json-query/scripts/shape.mjs", ["a.json", "--depth", "x"], "--depth is not a whole number"],
  ["json-query/scripts/diff.mjs", ["a.json"], "name two files"],
] as const)("json-query: %s %j says what is wrong in one line", async ([script, words, message], context) => {
  const deep = `${'{"y":['.repeat(50_000)}1${"]}".repeat(50_000)}`;
  const folder = createFolder({ "a.json": "{}", "bad.json": "{", "deep.json": deep });

  const run = await runScript(context, script, words, { folder });

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toContain(message);
  expect(run.stderr.trim().split("\n")).toHaveLength(1);
});

test("markdown-toc writes a table of contents once, and knows that it is up to date", async (context) => {
  const script = "markdown-toc/scripts/toc.mjs";
  const folder = createFolder({
    "a.md": "# Title\n\n## What's new?\n\n### In `code`\n\n## What's new?\n\n```sh\n# no heading\n```\n",
  });

  const before = await runScript(context, script, ["a.md", "--check", "--exit-code"], { folder });
  const written = await runScript(context, script, ["a.md", "--write"], { folder });
  const again = await runScript(context, script, ["a.md", "--write"], { folder });
  const after = await runScript(context, script, ["a.md", "--check", "--exit-code"], { folder });

  expect([before.code, written.code, again.code, after.code]).toEqual([3, 0, 0, 0]);
  expect(JSON.parse(again.stdout)).toMatchObject({ changed: false, entries: 3 });
  expect(readFileSync(join(folder, "a.md"), "utf8")).toContain(
    "# Title\n\n<!-- toc -->\n\n- [What's new?](#whats-new)\n  - [In `code`](#in-code)\n- [What's new?](#whats-new-1)\n\n<!-- /toc -->\n\n## What's new?",
  );
});

test("markdown-toc finds links that lead nowhere", async (context) => {
  const folder = createFolder({
    "a.md":
      "# A\n\n[ok](b.md#there) [gone](c.md) [wrong](b.md#gone) [web](https://example.com) `[code](x.md)`\n[self](#a)\n",
    "b.md": "## There\n",
  });

  const run = await runScript(context, "markdown-toc/scripts/check-links.mjs", ["a.md", "b.md", "--exit-code"], {
    folder,
  });

  expect(run.code).toBe(3);
  expect(JSON.parse(run.stdout)).toEqual({
    files: 2,
    links: 5,
    external: 1,
    findings: [
      { file: "a.md", line: 3, link: "c.md", problem: "there is no such file" },
      { file: "a.md", line: 3, link: "b.md#gone", problem: "there is no such heading", headings: ["there"] },
    ],
  });
});

test.for([
  ["markdown-toc/scripts/toc.mjs", ["missing.md"], "no such file"],
  ["markdown-toc/scripts/toc.mjs", ["a.md", "--min-level", "4", "--max-level", "2"], "levels go from 1 to 6"],
  ["markdown-toc/scripts/toc.mjs", ["a.md", "--write", "--check"], "not both"],
  ["markdown-toc/scripts/check-links.mjs", [], "name one or more"],
  ["markdown-toc/scripts/check-links.mjs", ["missing.md"], "no such file"],
] as const)("markdown-toc: %s %j says what is wrong in one line", async ([script, words, message], context) => {
  const run = await runScript(context, script, words, { folder: createFolder({ "a.md": "# A\n" }) });

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toContain(message);
});

test("git-summary summarises a repository", async (context) => {
  const folder = createRepository();

  const summary = await runScript(context, "git-summary/scripts/summary.sh", ["--until", "2030-01-01"], { folder });
  const byAuthor = await runScript(context, "git-summary/scripts/summary.sh", ["--author", "bob"], { folder });
  const hotspots = await runScript(
    context,
    "git-summary/scripts/hotspots.sh",
    ["--since", "2000-01-01", "--limit", "1"],
    { folder },
  );
  const commits = await runScript(context, "git-summary/scripts/commits.sh", ["--limit", "1"], { folder });

  expect(JSON.parse(summary.stdout)).toEqual({
    commits: 3,
    first: "2024-01-01",
    last: "2024-01-03",
    files: 2,
    added: 4,
    removed: 1,
    authors: [
      { name: 'Ann "A" \\ Ö', commits: 2 },
      { name: "Bob", commits: 1 },
    ],
  });
  expect(JSON.parse(byAuthor.stdout)).toMatchObject({ commits: 1 });
  expect(JSON.parse(hotspots.stdout)).toEqual({
    files: [{ file: "a file.txt", changes: 3, authors: 2, lines: 4 }],
    changed_files: 2,
  });
  expect(JSON.parse(commits.stdout)).toMatchObject({
    commits: [{ date: "2024-01-03", author: 'Ann "A" \\ Ö', subject: 'Say "hi"\\n', files: 2 }],
    shown: 1,
  });
});

test.for([
  ["git-summary/scripts/summary.sh", ["--repo", "nowhere"], 1, "is not a git repository"],
  ["git-summary/scripts/summary.sh", ["--nope"], 2, "unknown argument --nope"],
  ["git-summary/scripts/summary.sh", ["--branch", "--all"], 1, "there is no branch or commit --all"],
  ["git-summary/scripts/hotspots.sh", ["--limit", "0"], 2, "is not a whole number above 0"],
  ["git-summary/scripts/commits.sh", ["--range", "nope..HEAD"], 1, "there are no commits nope..HEAD"],
  ["git-summary/scripts/commits.sh", ["--range", "--output=x"], 2, "is not a range of commits"],
] as const)("git-summary: %s %j says what is wrong", async ([script, words, code, message], context) => {
  const run = await runScript(context, script, words, { folder: createRepository() });

  expect(run).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) as string });
});

test("license-headers finds what is missing, and adds it once, in the style of the language", async (context) => {
  const folder = createFolder({
    "a b.py": "#!/usr/bin/env python3\nprint(1)\n",
    "c.css": "a {}\n",
    "d.ts": "// Copyright 2020 Somebody\n",
    "e.js": "// @generated\n",
    "node_modules/f.js": "1\n",
    "notes.txt": "hello\n",
  });
  const add = ["--license", "Apache-2.0", "--holder", "Ada & Co", "--year", "2024"];
  const script = "license-headers/scripts/add-headers.sh";

  const before = await runScript(context, "license-headers/scripts/check-headers.sh", ["--exit-code"], { folder });
  const dry = await runScript(context, script, [...add, "--dry-run"], { folder });
  const unchanged = readFileSync(join(folder, "c.css"), "utf8");
  await runScript(context, script, add, { folder });
  const again = await runScript(context, script, add, { folder });
  const after = await runScript(context, "license-headers/scripts/check-headers.sh", ["--root", ".", "--exit-code"], {
    folder,
  });

  expect(before.code).toBe(3);
  expect(JSON.parse(before.stdout)).toEqual({ checked: 3, generated: 1, missing: 2, files: ["./a b.py", "./c.css"] });
  expect(JSON.parse(dry.stdout)).toMatchObject({ dry_run: true, changed: 2 });
  expect(unchanged).toBe("a {}\n");
  expect(JSON.parse(again.stdout)).toMatchObject({ dry_run: false, changed: 0 });
  expect(after.code).toBe(0);
  expect(readFileSync(join(folder, "a b.py"), "utf8")).toBe(
    "#!/usr/bin/env python3\n# SPDX-FileCopyrightText: 2024 Ada & Co\n# SPDX-License-Identifier: Apache-2.0\n\nprint(1)\n",
  );
  expect(readFileSync(join(folder, "c.css"), "utf8")).toContain("/* SPDX-License-Identifier: Apache-2.0 */\n\na {}\n");
});

test.for([
  ["license-headers/scripts/check-headers.sh", ["--root", "nowhere"], 1, "there is no folder nowhere"],
  ["license-headers/scripts/check-headers.sh", ["--extensions", "ts;rm"], 2, "write them like ts,py,sh"],
  ["license-headers/scripts/add-headers.sh", ["--holder", "x"], 2, "--license is missing"],
  ["license-headers/scripts/add-headers.sh", ["--license", "a;b", "--holder", "x"], 2, "is not an SPDX identifier"],
  ["license-headers/scripts/add-headers.sh", ["--license", "MIT", "--holder", "x\ny"], 2, "must be one line"],
] as const)("license-headers: %s %j says what is wrong", async ([script, words, code, message], context) => {
  const run = await runScript(context, script, words, { folder: createFolder({ "a.ts": "1\n" }) });

  expect(run).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) as string });
});

test.for([
  ["task-list/scripts/add.ts", ["Read it"]],
  ["task-list/scripts/finish.ts", ["1"]],
  ["task-list/scripts/list.ts", []],
] as const)("task-list: %s %j says that it needs Kitbag, in one line", async ([script, words], context) => {
  const run = await runScript(context, script, words, {});

  expect(run).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("run it with Kitbag") as string });
  expect(run.stderr.trim().split("\n")).toHaveLength(1);
});

const article = `---
title: not prose
---

# A heading here

One two [three](https://example.com/four). Five \`code\` six seven!

\`\`\`sh
not prose
\`\`\`
Eight nine ten.
`;

/** The scripts that can be run by themselves; the others are parts of these. */
function scriptsOf(folder: string): string[] {
  const parts =
    /(?:pdf_reader|pdf_fonts|pdf_text|table)\.py$|(?:json-file|json-path|markdown)\.mjs$|tasks\.ts$|common\.sh$|manifest\.yml$/u;
  return globSync("*/scripts/*", { cwd: folder }).filter((path) => !path.includes("__pycache__") && !parts.test(path));
}

/** The code behind a tool of an example skill. */
async function findScript(address: string): Promise<ScriptCode> {
  const [name, tool] = address.split("/");
  const { reports } = await loadSkills({ directories: [skills] });
  const skill = reports.find((report) => report.name === name)?.skill;
  const found = skill?.tools.find((candidate) => candidate.name === tool);
  if (found === undefined) throw new Error(`There is no ${address}`);
  return found.code as ScriptCode;
}

interface CheckDocument {
  readonly skills: readonly {
    readonly diagnostics: readonly unknown[];
    readonly tools: readonly { readonly address: string; readonly confidence: string }[];
  }[];
  readonly summary: unknown;
}

interface ScriptRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of an example skill as a person would. */
async function runScript(
  context: TestContext,
  script: string,
  words: readonly string[],
  { folder = createFolder(), stdin = "" }: { readonly folder?: string; readonly stdin?: string },
): Promise<ScriptRun> {
  const [program, ...first] = programs[script.split(".").at(-1) as keyof typeof programs];
  needProgram(context, program);
  return new Promise((finish, reject) => {
    const child = execFile(
      program,
      [...first, join(skills, script), ...words],
      { cwd: folder, timeout: 25_000, env: { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1" } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        // A program that is missing or was stopped has no exit code.
        if (typeof code === "number") finish({ code, stdout, stderr });
        else reject(error ?? new Error(`${script} did not end`));
      },
    );
    child.stdin?.on("error", () => {}).end(stdin);
  });
}
