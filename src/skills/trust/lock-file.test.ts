import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { loadLock, openLock, resolveLockPath, updateLock } from "./lock-file.ts";
import type { LockedSkill } from "./lock-format.ts";

const entry: LockedSkill = { name: "x", permissions: {}, tools: new Map(), uses: new Map(), files: new Map() };

test("loadLock() takes a lock that is not there for an empty one", () => {
  expect(loadLock(join(createFolder(), "kitbag.lock")).size).toBe(0);
});

test("updateLock() keeps what others write at the same time", async () => {
  const folder = createFolder();
  const path = join(folder, "kitbag.lock");
  const places = Array.from({ length: 20 }, (_, index) => `skills/s${index}`);

  await Promise.all(places.map((place) => updateLock(path, (lock) => lock.set(place, entry))));

  expect([...loadLock(path).keys()].toSorted()).toEqual(places.toSorted());
  expect(readdirSync(folder)).toEqual(["kitbag.lock"]);
});

test("updateLock() does not touch a lock that stays the same", async () => {
  const path = join(createFolder(), "kitbag.lock");
  await updateLock(path, (lock) => lock.set("a", entry));
  const before = statSync(path);

  await updateLock(path, (lock) => lock.set("a", { ...entry }));

  expect(statSync(path).ino).toBe(before.ino);
  expect(statSync(path).mtimeMs).toBe(before.mtimeMs);
});

test("updateLock() makes no lock when there is nothing to write down", async () => {
  const path = join(createFolder(), "kitbag.lock");

  await updateLock(path, () => {});

  expect(existsSync(path)).toBe(false);
});

test("R16: updateLock() does not write over a lock that it cannot read", async () => {
  const path = join(createFolder({ "kitbag.lock": "<<<<<<< ours\n" }), "kitbag.lock");

  const writing = updateLock(path, (lock) => lock.set("a", entry));

  await expect(writing).rejects.toMatchObject({
    code: "config-invalid",
    message: expect.stringContaining(
      "it has the conflict marker of a merge on line 1; resolve the merge first",
    ) as string,
  });
  expect(readFileSync(path, "utf8")).toBe("<<<<<<< ours\n");
});

test("R2: updateLock() writes nothing through a link that a project brings", async () => {
  const outside = createFolder({ "victim.txt": "mine" });
  const path = join(createFolder(), "kitbag.lock");
  symlinkSync(join(outside, "victim.txt"), path);

  await expect(updateLock(path, (lock) => lock.set("a", entry))).rejects.toThrow("it is a symbolic link");

  expect(readFileSync(join(outside, "victim.txt"), "utf8")).toBe("mine");
});

test("loadLock() does not wait for a pipe, and does not read what is too large or not text", () => {
  const folder = createFolder({ "bytes.lock": new Uint8Array([0xff, 0xfe, 0x00]) });
  execFileSync("mkfifo", [join(folder, "pipe.lock")]);

  expect(() => loadLock(join(folder, "pipe.lock"))).toThrow("it is not a plain file");
  expect(() => loadLock(join(folder, "bytes.lock"))).toThrow("it grants nothing until it is put right");
});

test("openLock() reads again only after a change, and throws as long as the lock is wrong", async () => {
  const path = join(createFolder(), "kitbag.lock");
  const { read } = openLock(path);
  await updateLock(path, (lock) => lock.set("a", entry));
  const first = read();

  expect(read()).toBe(first);

  await updateLock(path, (lock) => lock.set("b", entry));
  expect([...read().keys()]).toEqual(["a", "b"]);

  writeFileSync(path, "{}");
  expect(() => read()).toThrow("it has version undefined");
  expect(() => read()).toThrow("it has version undefined");
});

test("resolveLockPath() takes the nearest lock, else the root of the repository, else the folder", () => {
  const folder = createFolder({
    "repo/.git/HEAD": "",
    "repo/app/src/x": "",
    "locked/.git/HEAD": "",
    "locked/app/kitbag.lock": "",
    "locked/app/src/x": "",
    "alone/x": "",
  });

  expect(resolveLockPath(join(folder, "repo/app/src"))).toBe(join(folder, "repo/kitbag.lock"));
  expect(resolveLockPath(join(folder, "locked/app/src"))).toBe(join(folder, "locked/app/kitbag.lock"));
  expect(resolveLockPath(join(folder, "alone"))).toBe(join(folder, "alone/kitbag.lock"));
});

test("resolveLockPath() takes the home directory for no project, also if it is a repository", () => {
  const folder = realpathSync(createFolder({ "home/.git/HEAD": "", "home/kitbag.lock": "", "home/work/app/x": "" }));
  symlinkSync("home", join(folder, "link"));
  const work = join(folder, "home/work/app");

  expect(resolveLockPath(work, join(folder, "home"))).toBe(join(work, "kitbag.lock"));
  expect(resolveLockPath(work, join(folder, "link"))).toBe(join(work, "kitbag.lock"));
  expect(resolveLockPath(work, join(folder, "nowhere"))).toBe(join(folder, "home/kitbag.lock"));
});
