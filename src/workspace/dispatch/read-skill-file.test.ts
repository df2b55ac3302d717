import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import type { ToolOutcome } from "../../core/outcome.ts";
import { createWorkspace } from "../create-workspace.ts";
import { loadSkills } from "../skills/folder-skills.ts";
import { createDispatchTools } from "./create-dispatch-tools.ts";

test("read_skill_file reads a file of the skill's folder", async () => {
  const { read } = await setUp({ "references/forms.md": "# Forms\n" });

  const page = { path: "references/forms.md", text: "# Forms\n", offset: 0, bytes: 8 };
  expect(await read("references/forms.md")).toEqual({ status: "ok", output: page });
  expect(await read("./references/forms.md")).toMatchObject({ status: "ok", output: { text: "# Forms\n" } });
});

test("read_skill lists the files, and says how many it leaves out", async () => {
  const files = Array.from({ length: 220 }, (_, index): [string, string] => [`assets/${index}.txt`, "x"]);
  const { tool } = await setUp(Object.fromEntries(files));

  const outcome = await tool("read_skill")({ name: "notes" });

  const { files: listed, moreFiles } = outputOf(outcome) as { files: object[]; moreFiles: number };
  expect([listed.length, moreFiles]).toEqual([200, 21]);
  expect(listed[1]).toEqual({ path: "assets/0.txt", bytes: 1 });
});

test("read_skill_file reads a large file page by page, and cuts no character", async () => {
  const text = "añ日🎒\n".repeat(3000);
  const { read } = await setUp({ "large.txt": text });

  const pages: string[] = [];
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const page = outputOf(await read("large.txt", offset)) as Page;
    pages.push(page.text);
    offset = page.nextOffset;
  }

  expect(pages).toHaveLength(3);
  expect(pages.join("")).toBe(text);
  expect(await read("large.txt", 10_000_000)).toMatchObject({ output: { text: "" } });
});

test.for([
  ["../outside.txt"],
  ["references/../../outside.txt"],
  ["/etc/passwd"],
  ["//etc/passwd"],
  ["references/forms.md\0.png"],
  ["references/forms.md/"],
  ["references//forms.md"],
  ["references\\forms.md"],
  ["references/%2e%2e/SKILL.md"],
  ["REFERENCES/FORMS.MD/../x"],
  ["references"],
  ["."],
  [".././"],
  ["file:///etc/passwd"],
  ["constructor"],
  ["__proto__"],
  ["x".repeat(100_000)],
])("read_skill_file finds nothing at %j", async ([path = ""]) => {
  const { read } = await setUp({ "references/forms.md": "# Forms\n" });

  expect(codeOf(await read(path))).toBe("skill-file-missing");
});

test("read_skill_file names the file that may be meant", async () => {
  const { read } = await setUp({ "references/forms.md": "# Forms\n" });

  expect(await read("reference/form.md")).toMatchObject({
    error: { details: { nearest: ["references/forms.md"], count: 2 } },
  });
});

test("read_skill_file says of a file that is no text only how large it is", async () => {
  const bytes = { "logo.png": Buffer.from([0x89, 0x50, 0xff, 0xd8]), "zero.txt": Buffer.from("a\0b"), "empty.txt": "" };
  const { read } = await setUp(bytes);

  expect(await read("logo.png")).toEqual({ status: "ok", output: { path: "logo.png", bytes: 4, binary: true } });
  expect(await read("zero.txt")).toMatchObject({ output: { binary: true } });
  expect(await read("empty.txt")).toMatchObject({ output: { text: "", bytes: 0 } });
});

test("read_skill_file reads no file that changed, and no link that was put in its place", async () => {
  const { read, directory } = await setUp({ "a.txt": "first", "b.txt": "second", "sub/c.txt": "third" });
  const outside = mkdtempSync(join(tmpdir(), "kitbag-outside-"));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  writeFileSync(join(outside, "c.txt"), "third");
  writeFileSync(join(outside, "secret.txt"), "hidden");

  writeFileSync(join(directory, "a.txt"), "other");
  rmSync(join(directory, "b.txt"));
  symlinkSync(join(outside, "secret.txt"), join(directory, "b.txt"));
  rmSync(join(directory, "sub"), { recursive: true });
  symlinkSync(outside, join(directory, "sub"));

  for (const path of ["a.txt", "b.txt", "sub/c.txt"]) expect(codeOf(await read(path))).toBe("skill-file-changed");
});

test("read_skill_file reads the file that a link inside the folder leads to", async () => {
  const { read } = await setUp({ "real.txt": "the text" }, (directory) =>
    symlinkSync("real.txt", join(directory, "alias.txt")),
  );

  expect(await read("alias.txt")).toMatchObject({ output: { path: "alias.txt", text: "the text" } });
});

test("read_skill_file and read_skill read nothing of a skill that is not trusted", async () => {
  const { read, tool } = await setUp({ "a.txt": "first" }, undefined, "untrusted");

  expect(codeOf(await read("a.txt"))).toBe("skill-untrusted");
  expect(codeOf(await tool("read_skill")({ name: "notes" }))).toBe("skill-untrusted");
});

test("read_skill_file finds no file in a skill that has no folder, and no skill that is not there", async () => {
  const { tool } = await setUp({});

  expect(codeOf(await tool("read_skill_file")({ skill: "plain", path: "SKILL.md" }))).toBe("skill-file-missing");
  expect(codeOf(await tool("read_skill_file")({ skill: "nothing", path: "SKILL.md" }))).toBe("skill-not-found");
});

interface SetUp {
  readonly directory: string;
  read(path: string, offset?: number): Promise<ToolOutcome>;
  tool(name: string): (input: unknown) => Promise<ToolOutcome>;
}

interface Page {
  readonly text: string;
  readonly nextOffset?: number;
}

/** A workspace with a skill `notes` in a folder with these files, and a skill `plain` without one. */
async function setUp(
  files: Readonly<Record<string, string | Uint8Array>>,
  prepare: (directory: string) => void = () => {},
  trust: "trusted" | "untrusted" = "trusted",
): Promise<SetUp> {
  const root = mkdtempSync(join(tmpdir(), "kitbag-dispatch-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, "notes");
  const all = { "SKILL.md": "---\nname: notes\ndescription: Takes notes\n---\n\nWrite.\n", ...files };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  prepare(directory);
  const { reports } = await loadSkills({ directories: [root] });
  const [skill] = reports.flatMap((report) => report.skill ?? []);
  if (skill?.folder === undefined) throw new Error("the skill was not loaded");
  const status = trust === "trusted" ? { status: trust } : { status: trust, changed: [] };
  const notes = { ...skill, folder: { ...skill.folder, trust: status } };
  const { folder: _folder, ...plain } = { ...skill, name: "plain" };
  const tools = createDispatchTools(createWorkspace({ skills: [notes, plain] }).openSession());
  const tool = (name: string) => (input: unknown) =>
    (tools.find((one) => one.name === name) as (typeof tools)[number]).run(input);
  return {
    directory,
    tool,
    read: (path, offset) => tool("read_skill_file")({ skill: "notes", path, ...(offset !== undefined && { offset }) }),
  };
}

function codeOf(outcome: ToolOutcome): string {
  return outcome.status === "ok" ? "ok" : outcome.error.code;
}

function outputOf(outcome: ToolOutcome): unknown {
  return outcome.status === "ok" ? outcome.output : outcome.error;
}
