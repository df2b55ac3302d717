/** The example skills as Kitbag runs them: in the real sandbox of this machine, with the permissions that they declare. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { createWorkspace, type CallEvent, type ToolOutcome, type Workspace } from "kitbag";
import { openRuntimes } from "kitbag/runtimes";
import { loadSkills } from "kitbag/skills";
import { expect, onTestFinished, test, vi, type TestContext } from "vitest";

import { createPdf, createRepository, createZip, sales, users } from "./support/example-files.ts";
import { needProgram } from "./support/need-program.ts";
import { createFolder } from "./support/temporary-folder.ts";

vi.setConfig({ testTimeout: 120_000 });

const skills = resolve(import.meta.dirname, "../skills");

test("archive-inspect looks into archives of the project, in the sandbox", async (context) => {
  const call = await openSkill(context, "archive-inspect", {
    "a.zip": createZip({ "a.md": "text" }),
    "bad.zip": createZip({ "../up.txt": "x" }),
  });

  const list = await call("archive-list", { archive: "a.zip", match: "*.md" });
  const check = await call("archive-check", { archive: "bad.zip" });
  const show = await call("archive-show", { archive: "a.zip", entry: "a.md" });
  const missing = await call("archive-show", { archive: "a.zip", entry: "nope" });
  const outside = await call("archive-list", { archive: "/etc/passwd" });

  expect(parse(list)).toMatchObject({ entries: 1, shown: [{ name: "a.md" }] });
  expect(parse(check)).toMatchObject({ safe: false, findings: [{ finding: "parent-path" }] });
  expect(parse(show)).toMatchObject({ text: "text" });
  expect(stderrOf(missing)).toContain('there is no file "nope" in it');
  expect(outside).toMatchObject({ status: "failed", error: { code: "file-denied" } });
});

test("checksums computes in the sandbox, and refuses what its schema does not know", async (context) => {
  const call = await openSkill(context, "checksums", {});

  const digest = await call("digest", { text: "abc", algorithm: "crc32" });
  const number = await call("check-number", { number: "4006381333931", kind: "ean" });
  const wrong = await call("digest", { text: "abc", algorithm: "md5" });

  expect(digest).toMatchObject({ status: "ok", output: { hex: "352441c2", bytes: 3 } });
  expect(number).toMatchObject({ status: "ok", output: { valid: true } });
  expect(wrong).toMatchObject({ status: "failed", error: { code: "input-invalid" } });
});

test("csv-report reads tables of the project, in the sandbox", async (context) => {
  const call = await openSkill(context, "csv-report", { "a.csv": sales });

  const summary = await call("summarize", { file: "a.csv", columns: ["amount"] });
  const groups = await call("group_by", { file: "a.csv", by: ["region"], sum: ["amount"], limit: 1 });
  const wrong = await call("group_by", { file: "a.csv", by: ["nope"] });
  const unread = await call("summarize", { file: "-", encoding: "none such" });

  expect(parse(summary)).toMatchObject({ rows: 4, columns: [{ name: "amount", sum: 1237 }] });
  expect(parse(groups)).toMatchObject({ groups: 2, result: [{ region: "north", sum_amount: 1239.5 }] });
  expect(stderrOf(wrong)).toContain('there is no column "nope"');
  expect(stderrOf(unread)).toContain("there is no encoding none such");
});

test("git-summary reads the history of a repository, in the sandbox", async (context) => {
  needProgram(context, "git");
  const call = await openSkill(context, "git-summary", createRepository());

  const summary = await call("summary", { author: "bob" });
  const hotspots = await call("hotspots", { since: "2000-01-01", limit: 1 });
  const commits = await call("commits", { limit: 1 });
  const wrong = await call("commits", { range: "nope..HEAD" });

  expect(parse(summary)).toMatchObject({ commits: 1 });
  expect(parse(hotspots)).toMatchObject({ files: [{ file: "a file.txt", changes: 3 }] });
  expect(parse(commits)).toMatchObject({ commits: [{ date: "2024-01-03" }], shown: 1 });
  expect(stderrOf(wrong)).toContain("there are no commits nope..HEAD");
});

test("json-query reads JSON of the project, in the sandbox", async (context) => {
  const call = await openSkill(context, "json-query", { "a.json": users, "b.json": users.replace("Ann", "Anna") });

  const query = await call("query", { file: "a.json", path: "users[?age>3].name", format: "lines" });
  const shape = await call("shape", { file: "a.json" });
  const diff = await call("diff", { before: "a.json", after: "b.json" });
  const wrong = await call("query", { file: "a.json", path: "a[" });

  expect(query).toEqual({ status: "ok", output: "Bob" });
  expect(parse(shape)).toMatchObject({ type: "object" });
  expect(parse(diff)).toMatchObject({ equal: false, count: 1 });
  expect(stderrOf(wrong)).toContain("cannot read the path");
});

test("license-headers changes files of the project, and those alone, in the sandbox", async (context) => {
  const folder = createFolder({ "a.py": "print(1)\n" });
  const outside = createFolder({ "b.py": "print(2)\n" });
  const call = await openSkill(context, "license-headers", folder);

  const before = await call("check-headers", {});
  const added = await call("add-headers", { license: "MIT", holder: "Ada & Co", year: "2024" });
  const refused = await call("add-headers", { license: "MIT", holder: "Ada", root: outside });
  const wrong = await call("add-headers", { license: "a;b", holder: "Ada" });

  expect(parse(before)).toMatchObject({ missing: 1, files: ["./a.py"] });
  expect(parse(added)).toMatchObject({ changed: 1 });
  expect(readFileSync(join(folder, "a.py"), "utf8")).toContain("# SPDX-FileCopyrightText: 2024 Ada & Co\n");
  expect(refused).toMatchObject({ status: "failed", error: { code: "file-denied" } });
  expect(stderrOf(wrong)).toContain("is not an SPDX identifier");
});

test("markdown-toc writes into a file of the project, in the sandbox", async (context) => {
  const folder = createFolder({ "a.md": "# One\n\n## Two\n\n[gone](c.md)\n" });
  const call = await openSkill(context, "markdown-toc", folder);

  const written = await call("toc", { file: "a.md", write: true });
  const links = await call("check-links", { file: ["a.md"] });
  const wrong = await call("toc", { file: "missing.md" });

  expect(parse(written)).toMatchObject({ changed: true, entries: 1 });
  expect(readFileSync(join(folder, "a.md"), "utf8")).toContain("- [Two](#two)");
  expect(parse(links)).toMatchObject({ findings: [{ link: "c.md" }] });
  expect(stderrOf(wrong)).toContain("no such file");
});

test("pdf-text reads a document of the project in the sandbox, and tells how far it is", async (context) => {
  const events: CallEvent[] = [];
  const pdf = createPdf([{ text: "Hello" }, { text: "again" }]);
  const call = await openSkill(context, "pdf-text", { "-odd name.pdf": pdf }, (event) => events.push(event));

  const text = await call("extract_text", { pdf: "-odd name.pdf" });
  const facts = await call("pdf_info", { pdf: "-odd name.pdf" });
  const wrong = await call("extract_text", { pdf: "/etc/shadow" });

  expect(text).toEqual({ status: "ok", output: "Hello\n\f\nagain" });
  expect(parse(facts)).toMatchObject({ pages: 2 });
  expect(wrong).toMatchObject({ status: "failed", error: { code: "file-denied" } });
  expect(events.flatMap((event) => (event.type === "call-progress" ? [event.progress] : []))).toEqual([
    { message: "reading pages", done: 0, total: 2 },
    { message: "reading pages", done: 1, total: 2 },
  ]);
});

test("task-list keeps one list for its tools, also when they are called at the same time", async (context) => {
  const call = await openSkill(context, "task-list", {});

  const added = await Promise.all(["read", "write", "check"].map((text) => call("add", { text })));
  const finished = await call("finish", { number: 1, note: "two of them" });
  const list = await call("list", {});
  const wrong = await call("finish", { number: 9 });

  expect(new Set(added.map((outcome) => (parse(outcome) as { number: number }).number))).toEqual(new Set([1, 2, 3]));
  expect(parse(finished)).toMatchObject({ finished: 1, open: 2, next: { number: 2 } });
  expect(parse(list)).toMatchObject({ open: 2, done: 1, tasks: [{ number: 1, note: "two of them" }, {}, {}] });
  expect(stderrOf(wrong)).toContain("there is no task 9; there are 3");
});

test("text-stats reads texts of the project, in the sandbox", async (context) => {
  const call = await openSkill(context, "text-stats", { "a.md": "Red apple. The red apple is red.\n", empty: "" });

  const count = await call("stats-count", { file: "a.md" });
  const words = await call("stats-words", { file: "a.md", top: 1 });
  const readability = await call("stats-readability", { file: "a.md" });
  const wrong = await call("stats-readability", { file: "empty" });

  expect(parse(count)).toMatchObject({ words: 7, sentences: 2 });
  expect(parse(words)).toMatchObject({ top: [{ text: "red", count: 3 }] });
  expect(parse(readability)).toHaveProperty("grade_level");
  expect(stderrOf(wrong)).toContain("there are no words in it");
});

test("the example skills ask for no network, no secrets, and no program but git", async () => {
  const { reports } = await loadSkills({ directories: [skills] });

  const asked = reports.map(({ name, skill }) => [name, Object.entries(skill?.permissions ?? {})] as const);
  const asks = asked.filter(([, permissions]) => permissions.length > 0);

  expect(Object.fromEntries(asks.map(([name, permissions]) => [name, Object.fromEntries(permissions)]))).toEqual({
    "archive-inspect": { read: ["."] },
    "csv-report": { read: ["."] },
    "git-summary": { read: ["."], run: ["git"] },
    "json-query": { read: ["."] },
    "license-headers": { read: ["."], write: ["."] },
    "markdown-toc": { read: ["."], write: ["."] },
    "pdf-text": { read: ["."] },
    "text-stats": { read: ["."] },
  });
});

type Call = (tool: string, input: object) => Promise<ToolOutcome>;

/** Opens an example skill for a project: a folder, or the files of one. */
async function openSkill(
  context: TestContext,
  name: string,
  project: string | Readonly<Record<string, string | Uint8Array>>,
  onEvent: (event: CallEvent) => void = () => {},
): Promise<Call> {
  needProgram(context, "python3");
  const directory = typeof project === "string" ? project : createFolder(project);
  const runtimes = openRuntimes({ directory, home: createFolder() });
  onTestFinished(() => runtimes.close());
  const { reports } = await loadSkills({ directories: [join(skills, name)] });
  const workspace: Workspace = createWorkspace({ skills: reports.flatMap(({ skill }) => skill ?? []), runtimes });
  workspace.onEvent(onEvent);
  expect(await workspace.activateSkill(name)).toMatchObject({ status: "ok" });
  return (tool, input) => workspace.call(`${name}/${tool}`, input);
}

function parse(outcome: ToolOutcome): unknown {
  if (outcome.status === "failed") throw new Error(outcome.error.message);
  return JSON.parse(String(outcome.output));
}

function stderrOf(outcome: ToolOutcome): string {
  expect(outcome).toMatchObject({ status: "failed", error: { code: "script-failed" } });
  return outcome.status === "failed" && outcome.error.code === "script-failed" ? outcome.error.details.stderr : "";
}
