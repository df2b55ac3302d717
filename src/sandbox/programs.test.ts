import { chmodSync, copyFileSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { findProgram, gatherPrograms } from "./programs.ts";

test("findProgram() looks at the system's directories first", () => {
  expect(findProgram("sh")).toMatch(/^\/(?:usr\/)?bin\/sh$/u);
});

test("findProgram() takes an absolute path as it is, if it is a program", () => {
  const folder = createFolder();
  const [program, text] = [join(folder, "program"), join(folder, "text")];
  copyFileSync("/bin/true", program);
  writeFileSync(text, "", { mode: 0o644 });

  expect([findProgram(program), findProgram(text), findProgram(folder)]).toEqual([program, undefined, undefined]);
});

test.for(["", "no-such-program", "../bin/sh", "./sh", "a/b", "/", "/etc/passwd"])(
  "findProgram() does not find %j",
  (name) => {
    expect(findProgram(name)).toBeUndefined();
  },
);

test("gatherPrograms() gathers the basic programs and those that are named, and none of those that reach further", async () => {
  const directory = await gatherPrograms(["perl"], createFolder());

  const names = readdirSync(directory);
  expect(names).toEqual(expect.arrayContaining(["bash", "sh", "cat", "perl"]));
  for (const name of ["mount", "su", "unshare", "curl", "ssh", "python3"]) expect(names).not.toContain(name);
});

test("gatherPrograms() takes special rights away", async () => {
  const directory = await gatherPrograms(["su", "mount", "passwd"], createFolder());

  const modes = readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o7777);
  expect(new Set(modes)).toEqual(new Set([0o755]));
});

test("gatherPrograms() makes each set once, also at the same time, and copies each program once for all", async () => {
  const kept = createFolder();

  const [one, same] = await Promise.all([gatherPrograms(["perl"], kept), gatherPrograms(["perl"], kept)]);
  const other = await gatherPrograms([], kept);

  expect(same).toBe(one);
  expect(other).not.toBe(one);
  expect(statSync(join(other, "bash")).ino).toBe(statSync(join(one, "bash")).ino);
  expect(readdirSync(kept).filter((name) => name.includes("."))).toEqual([]);
});

test("gatherPrograms() leaves out what is not there, and what is outside of the system's directories", async () => {
  const folder = createFolder();
  const own = join(folder, "own-program");
  copyFileSync("/bin/true", own);
  chmodSync(own, 0o755);

  const directory = await gatherPrograms(["no-such-program", own, "../../etc/passwd"], folder);

  expect(existsSync(join(directory, "own-program"))).toBe(false);
});
