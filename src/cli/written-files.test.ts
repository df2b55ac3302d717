import { existsSync, readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import type { WrittenFile } from "../core/call-files.ts";
import type { OkOutcome } from "../core/outcome.ts";
import { answerWritten } from "./written-files.ts";

test("answerWritten() says of each file where it is, and how to save what is only kept", async () => {
  const cwd = createProject();
  const files = [
    { path: "out.csv", bytes: 42, savedTo: join(cwd, "out.csv"), backup: join(cwd, "out.csv.bak") },
    { path: "result.txt", bytes: 2048, handle: "output:1" },
    { path: "film.mp4", bytes: 90_000_000 },
  ];

  const { note } = await answer(cwd, files);

  expect(note).toBe(
    [
      "wrote out.csv (42 bytes; what was there is now out.csv.bak)",
      "wrote result.txt (2.0 KiB, not kept in this folder)",
      "wrote film.mp4 (85.8 MiB, not kept: it is too large)",
      "→ to save it in this folder: call again with --keep, or let it write here: kitbag grant report --write .",
    ].join("\n"),
  );
});

test("answerWritten() with --keep saves below the working directory, and overwrites nothing", async () => {
  const cwd = createProject({ "report.md": "mine" });
  const files = [
    { path: "report.md", bytes: 3, handle: "new" },
    { path: "parts/a.csv", bytes: 3, handle: "new" },
    { path: "/tmp/page.html", bytes: 3, handle: "new" },
    { path: "../../up.txt", bytes: 3, handle: "new" },
  ];

  const { note, document } = await answer(cwd, files, { keep: true });

  expect(note).toBe(
    "wrote report-2.md (3 bytes)\nwrote parts/a.csv (3 bytes)\nwrote page.html (3 bytes)\nwrote up.txt (3 bytes)",
  );
  const made = ["page.html", "parts", "parts/a.csv", "report-2.md", "report.md", "up.txt"];
  expect(new Set(readdirSync(cwd, { recursive: true, encoding: "utf8" }))).toEqual(new Set(made));
  expect(readFileSync(join(cwd, "report.md"), "utf8")).toBe("mine");
  expect(readFileSync(join(cwd, "report-2.md"), "utf8")).toBe("new");
  expect((document as OkOutcome).files?.map(({ savedTo }) => savedTo)).toContain(join(cwd, "parts/a.csv"));
});

test.for([
  ".envrc",
  ".git/hooks/pre-commit",
  "a/.npmrc",
  "kitbag.config.ts",
  "kitbag.lock",
  ".kitbag/skills/x/SKILL.md",
])("answerWritten() with --keep does not save %s", async (path) => {
  const cwd = createProject();

  const { note } = await answer(cwd, [{ path, bytes: 3, handle: "new" }], { keep: true });

  expect(note).toContain("not saved: programs obey or run files of this name");
  expect(readdirSync(cwd)).toEqual([]);
});

test("answerWritten() with --keep follows no link that leads out of the working directory", async () => {
  const cwd = createProject();
  const outside = createFolder();
  symlinkSync(outside, join(cwd, "out"));

  const { note } = await answer(cwd, [{ path: "out/a.txt", bytes: 3, handle: "new" }], { keep: true });

  expect(note).toContain("not saved: a link leads out of this folder");
  expect(existsSync(join(outside, "a.txt"))).toBe(false);
});

test("answerWritten() says which file could not be read, and saves the others", async () => {
  const cwd = createProject();
  const files = [
    { path: "gone.txt", bytes: 3, handle: "gone" },
    { path: "b.txt", bytes: 3, handle: "new" },
  ];

  const { note } = await answer(cwd, files, { keep: true });

  expect(note).toBe("wrote gone.txt (3 bytes, not saved: nothing is kept)\nwrote b.txt (3 bytes)");
});

test("answerWritten() shows names with control characters harmlessly", async () => {
  const { note } = await answer(createProject(), [{ path: "a\u001B[2J\nwrote b", bytes: 3, handle: "new" }]);

  expect(note?.split("\n")[0]).toBe(String.raw`wrote "a\u001b[2J\nwrote b" (3 bytes, not kept in this folder)`);
});

function createProject(files: Readonly<Record<string, string>> = {}): string {
  return realpathSync.native(createFolder(files));
}

function answer(cwd: string, files: readonly WrittenFile[], options = {}): ReturnType<typeof answerWritten> {
  const outcome = { status: "ok" as const, output: "done", files };
  return answerWritten(outcome, (document) => ({ document }), {
    invocation: { cwd, env: {}, options },
    address: "report/build",
    read: async (handle) => {
      if (handle !== "new") throw new Error("nothing is kept");
      return Buffer.from("new");
    },
  });
}
