import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test, expect } from "vitest";

import { findSkillFileName, loadSkillDocument } from "./load-skill-document.ts";

const text = "---\nname: pdf\ndescription: Does it\n---\nBody\n";

test("loadSkillDocument() reads the SKILL.md of a folder and compares the names", () => {
  const folder = createFolder({ "SKILL.md": text });

  const loaded = loadSkillDocument(folder, { path: "skills/pdf" });

  expect(loaded.document).toMatchObject({ name: "pdf", file: "skills/pdf/SKILL.md", body: "Body\n" });
  expect(loaded.diagnostics).toEqual([]);
  expect(loaded.fileName).toBe("SKILL.md");
  expect(Buffer.from(loaded.bytes ?? []).toString()).toBe(text);
});

test("loadSkillDocument() reports a name that is not that of the folder", () => {
  const folder = createFolder({ "SKILL.md": text.replace("pdf", "other") });

  expect(loadSkillDocument(folder).diagnostics).toMatchObject([{ code: "name-mismatch", file: "SKILL.md", line: 2 }]);
});

test("loadSkillDocument() reads skill.md, and says so", () => {
  const folder = createFolder({ "skill.md": text });

  const loaded = loadSkillDocument(folder);

  expect(loaded.document?.name).toBe("pdf");
  expect(loaded.diagnostics).toMatchObject([{ severity: "warning", code: "file-lower-case", file: "skill.md" }]);
});

test("loadSkillDocument() reads Skill.md, but not to the letter of the specification", () => {
  const folder = createFolder({ "Skill.md": text });

  expect(loadSkillDocument(folder).diagnostics).toMatchObject([{ severity: "warning", code: "file-misspelled" }]);
  expect(loadSkillDocument(folder, { spec: true }).diagnostics).toMatchObject([
    { severity: "error", code: "file-misspelled" },
  ]);
});

test("loadSkillDocument() prefers SKILL.md, and reports the others", () => {
  const folder = createFolder({ "skill.md": "no", "SKILL.md": text, "Skill.md": "no" });

  const loaded = loadSkillDocument(folder);

  expect(loaded.document?.name).toBe("pdf");
  expect(loaded.diagnostics).toMatchObject([{ code: "file-several" }]);
  expect(loaded.diagnostics[0]?.message).toContain('"Skill.md"');
});

test("loadSkillDocument() uses names that are already known", () => {
  const folder = createFolder({ "SKILL.md": text, "skill.md": "no" });

  expect(loadSkillDocument(folder, { entries: ["SKILL.md"] }).diagnostics).toEqual([]);
});

test("findSkillFileName() looks for nothing else", () => {
  expect(findSkillFileName(["README.md", "SKILLS.md", "SKILL.mdx", "skill"])).toBeUndefined();
  expect(findSkillFileName(["sKILL.md", "SKILL.MD"])).toBe("SKILL.MD");
});

test("loadSkillDocument() reports a folder without a SKILL.md", () => {
  const folder = createFolder({ "README.md": "x" });

  const loaded = loadSkillDocument(folder, { path: "a" });

  expect(loaded.document).toBeUndefined();
  expect(loaded.diagnostics).toMatchObject([{ severity: "error", code: "file-missing", file: "a/SKILL.md" }]);
});

test("loadSkillDocument() reports a folder that is not there, or goes away", () => {
  const folder = createFolder({ "SKILL.md": text });
  rmSync(folder, { recursive: true });

  expectUnreadable(folder, "ENOENT");
  expect(loadSkillDocument(folder, { entries: ["SKILL.md"] }).diagnostics).toMatchObject([{ code: "file-unreadable" }]);
});

test("loadSkillDocument() reports a file in place of a folder", () => {
  const folder = createFolder({ "SKILL.md": text });

  expectUnreadable(join(folder, "SKILL.md"), "ENOTDIR");
});

test("loadSkillDocument() refuses a folder of that name", () => {
  const folder = createFolder({});
  mkdirSync(join(folder, "SKILL.md"));

  expectUnreadable(folder, "a folder");
});

test("loadSkillDocument() does not wait for a pipe", () => {
  const folder = createFolder({});
  execFileSync("mkfifo", [join(folder, "SKILL.md")]);

  expectUnreadable(folder, "a pipe");
});

test("loadSkillDocument() refuses a socket", async () => {
  const folder = createFolder({});
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(join(folder, "SKILL.md"), resolve));

  const { document, diagnostics } = loadSkillDocument(folder);

  expect(document).toBeUndefined();
  expect(diagnostics).toMatchObject([{ severity: "error", code: "file-unreadable" }]);
});

test("loadSkillDocument() refuses a link to a device", () => {
  const folder = createFolder({});
  symlinkSync("/dev/zero", join(folder, "SKILL.md"));

  expectUnreadable(folder, "leaves the folder");
});

test("loadSkillDocument() refuses a link that leaves the folder", () => {
  const outside = createFolder({ "secret.md": text });
  const folder = createFolder({});
  symlinkSync(join(outside, "secret.md"), join(folder, "SKILL.md"));

  expectUnreadable(folder, "leaves the folder");
});

test("loadSkillDocument() refuses a link into a folder whose name only begins alike", () => {
  const folder = createFolder({});
  const twin = `${folder}-twin`;
  mkdirSync(twin);
  onTestFinished(() => rmSync(twin, { recursive: true }));
  writeFileSync(join(twin, "SKILL.md"), text);
  symlinkSync(join(twin, "SKILL.md"), join(folder, "SKILL.md"));

  expectUnreadable(folder, "leaves the folder");
});

test("loadSkillDocument() refuses a link to itself", () => {
  const folder = createFolder({});
  symlinkSync("SKILL.md", join(folder, "SKILL.md"));

  expectUnreadable(folder, "ELOOP");
});

test("loadSkillDocument() follows a link that stays in the folder", () => {
  const folder = createFolder({ "docs/main.md": text });
  symlinkSync("docs/main.md", join(folder, "SKILL.md"));

  expect(loadSkillDocument(folder).document?.name).toBe("pdf");
});

test("loadSkillDocument() reads a folder that is itself a link, under the link's name", () => {
  const folder = createFolder({ "SKILL.md": text });
  const link = join(createFolder({}), "pdf");
  symlinkSync(folder, link);

  const loaded = loadSkillDocument(link);

  expect(loaded.document?.name).toBe("pdf");
  expect(loaded.diagnostics).toEqual([]);
});

test("loadSkillDocument() does not read a file of 100 MB", () => {
  const folder = createFolder({ "SKILL.md": text });
  truncateSync(join(folder, "SKILL.md"), 100 * 1024 * 1024);

  const { document, diagnostics } = loadSkillDocument(folder);

  expect(document).toBeUndefined();
  expect(diagnostics).toMatchObject([{ severity: "error", code: "file-too-large" }]);
});

test("loadSkillDocument() reads a file of exactly the largest size", () => {
  const folder = createFolder({ "SKILL.md": text.padEnd(1_048_576, "a") });

  expect(loadSkillDocument(folder).document?.body).toHaveLength(1_048_576 - text.length + "Body\n".length);
});

test("loadSkillDocument() reports a file that may not be read", () => {
  const folder = createFolder({ "SKILL.md": text });
  execFileSync("chmod", ["000", join(folder, "SKILL.md")]);

  const { document, diagnostics } = loadSkillDocument(folder);

  // The superuser reads everything; for others it is a diagnostic.
  if (process.getuid?.() === 0) expect(document?.name).toBe("pdf");
  else expect(diagnostics).toMatchObject([{ severity: "error", code: "file-unreadable" }]);
});

test("loadSkillDocument() reports an empty path and a path with a NUL byte", () => {
  expect(loadSkillDocument("").diagnostics).toMatchObject([{ severity: "error" }]);
  expect(loadSkillDocument("a\0b").diagnostics).toMatchObject([{ severity: "error" }]);
});

function createFolder(files: Readonly<Record<string, string>>): string {
  const parent = mkdtempSync(join(tmpdir(), "kitbag-document-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, "pdf");
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

function expectUnreadable(folder: string, reason: string): void {
  const { document, diagnostics } = loadSkillDocument(folder);

  expect(document).toBeUndefined();
  expect(diagnostics).toMatchObject([{ severity: "error", code: "file-unreadable" }]);
  expect(diagnostics[0]?.message).toContain(reason);
}
