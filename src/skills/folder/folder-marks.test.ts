import {
  chmodSync,
  linkSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { hasSameMarks, type FolderMarks } from "./folder-marks.ts";
import { readFolder } from "./read-folder.ts";

test("hasSameMarks() recognises a folder in which nothing was written", () => {
  const { folder, marks } = create();

  expect(marks.items.map(([path]) => path)).toEqual(["", "SKILL.md", "scripts", "scripts/run.py"]);
  expect(hasSameMarks(folder, marks)).toBe(true);
});

test.for([
  ["a file is written", (folder: string) => writeFileSync(join(folder, "SKILL.md"), "other")],
  ["a file gets other bytes, the same size and its old time", rewriteWithOldTime],
  ["a file is put in", (folder: string) => writeFileSync(join(folder, "scripts/new.py"), "")],
  ["a folder is put in", (folder: string) => mkdirSync(join(folder, "scripts/deep"))],
  ["a file is taken out", (folder: string) => rmSync(join(folder, "scripts/run.py"))],
  ["a file is renamed", (folder: string) => renameSync(join(folder, "SKILL.md"), join(folder, "skill.md"))],
  [
    "a file is replaced by one of the same bytes",
    (folder: string) => {
      writeFileSync(join(folder, "x"), "hello");
      renameSync(join(folder, "x"), join(folder, "SKILL.md"));
    },
  ],
  [
    "a link is put in the place of a file",
    (folder: string) => {
      renameSync(join(folder, "SKILL.md"), join(folder, "real"));
      symlinkSync("real", join(folder, "SKILL.md"));
    },
  ],
  [
    "a link is put in the place of a folder",
    (folder: string) => {
      renameSync(join(folder, "scripts"), join(folder, "real"));
      symlinkSync("real", join(folder, "scripts"));
    },
  ],
  ["a file becomes executable by everybody", (folder: string) => chmodSync(join(folder, "scripts/run.py"), 0o4777)],
  ["a file gets a second name", (folder: string) => linkSync(join(folder, "SKILL.md"), join(folder, "scripts/also"))],
  ["the folder is deleted", (folder: string) => rmSync(folder, { recursive: true })],
] as const)("R16: hasSameMarks() notices that %s", ([, change]) => {
  const { folder, marks } = create();

  change(folder);

  expect(hasSameMarks(folder, marks)).toBe(false);
});

test("hasSameMarks() does not believe marks of what was written just before", () => {
  const folder = realpathSync(createFolder({ "SKILL.md": "hello" }));
  const { marks } = readFolder(folder);

  expect(marks).toBeDefined();
  expect(hasSameMarks(folder, marks as FolderMarks)).toBe(false);
});

test("readFolder() gives no marks to a folder with links, or with something left out", () => {
  const linked = createFolder({ "SKILL.md": "hello" });
  symlinkSync("SKILL.md", join(linked, "also"));
  const deep = createFolder({ "a/b/c": "" });

  expect(readFolder(linked).marks).toBeUndefined();
  expect(readFolder(deep, { maxDepth: 1 }).marks).toBeUndefined();
  expect(readFolder("/nowhere").marks).toBeUndefined();
});

test("readFolder() takes no marks if nobody wants them, and reads the same", () => {
  const directory = createFolder({ "SKILL.md": "# One", "scripts/run.sh": "echo" });

  const { marks, ...withMarks } = readFolder(directory);
  const without = readFolder(directory, { takesMarks: false });

  expect(marks?.items.length).toBe(4);
  expect(without).toEqual(withMarks);
});

/** A folder with marks that were taken long after it was written. */
function create(): { folder: string; marks: FolderMarks } {
  const folder = realpathSync(createFolder({ "SKILL.md": "hello", "scripts/run.py": "print(1)" }));
  const { marks } = readFolder(folder);
  return { folder, marks: { items: marks?.items ?? [], takenAt: (marks?.takenAt ?? 0) + 10_000 } };
}

function rewriteWithOldTime(folder: string): void {
  const file = join(folder, "SKILL.md");
  const { atime, mtime } = statSync(file);
  writeFileSync(file, "HELLO");
  utimesSync(file, atime, mtime);
}
