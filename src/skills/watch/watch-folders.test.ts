import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import { createFolder, writeFiles } from "../../../test/support/temporary-folder.ts";
import { watchFolders, type FolderWatch } from "./watch-folders.ts";

test("watchFolders() hints at files that are written, at any depth", async () => {
  const folder = createFolder({ "a/b/c.txt": "" });
  const { watch, sees } = start();
  watch.setFolders([folder]);

  writeFiles(folder, { "a/b/c.txt": "x" });

  await sees(join(folder, "a/b/c.txt"));
});

test("watchFolders() watches folders that are made later, and moved in, and made again", async () => {
  const folder = createFolder();
  const outside = createFolder({ "moved/deep/x.txt": "" });
  const { watch, sees } = start();
  watch.setFolders([folder]);

  mkdirSync(join(folder, "new"));
  await sees(join(folder, "new"));
  writeFiles(folder, { "new/x.txt": "" });
  await sees(join(folder, "new/x.txt"));

  renameSync(join(outside, "moved"), join(folder, "moved"));
  await sees(join(folder, "moved"));
  writeFiles(folder, { "moved/deep/x.txt": "x" });
  await sees(join(folder, "moved/deep/x.txt"));

  rmSync(join(folder, "new"), { recursive: true });
  mkdirSync(join(folder, "new"));
  await sees(join(folder, "new"));
  writeFiles(folder, { "new/x.txt": "again" });
  await sees(join(folder, "new/x.txt"));
});

test("setFolders() answers with what is watched from now on, and only that", () => {
  const [one, two] = [createFolder(), createFolder()];
  const { watch } = start();

  expect(watch.setFolders([one])).toEqual([one]);
  expect(watch.setFolders([one, two])).toEqual([two]);
  expect(watch.setFolders([two])).toEqual([]);
  expect(watch.setFolders([one], [join(two, "file")])).toEqual([one, join(two, "file")]);
});

test("setFolders() stops watching what is not named any more", async () => {
  const [one, two] = [createFolder(), createFolder()];
  const { watch, sees, told } = start();
  watch.setFolders([one, two]);

  watch.setFolders([two]);
  writeFiles(one, { "x.txt": "" });
  writeFiles(two, { "y.txt": "" });
  await sees(join(two, "y.txt"));

  expect(new Set(told.flat())).toEqual(new Set([join(two, "y.txt")]));
});

test("setFolders() notices that a folder is another one now", () => {
  const parent = createFolder({ "a/x": "" });
  const folder = join(parent, "a");
  const { watch } = start();
  watch.setFolders([folder]);

  renameSync(folder, join(parent, "b"));
  mkdirSync(folder);

  expect(watch.setFolders([folder])).toEqual([folder]);
  expect(watch.setFolders([folder])).toEqual([]);
});

test("watchFolders() waits for a folder whose parents are not there", async () => {
  const parent = createFolder();
  const folder = join(parent, "a/b/c");
  const { watch, sees } = start();
  watch.setFolders([folder]);

  writeFiles(parent, { "unrelated.txt": "" });
  mkdirSync(folder, { recursive: true });

  await sees(folder);
  expect(watch.setFolders([folder])).toEqual([folder]);
  writeFiles(folder, { "x.txt": "" });
  await sees(join(folder, "x.txt"));
});

test("watchFolders() watches a single file, also one that is replaced, and not its neighbours", async () => {
  const folder = createFolder({ "list.json": "1" });
  const file = join(folder, "list.json");
  const { watch, sees, told } = start();
  watch.setFolders([], [file]);

  writeFileSync(join(folder, "other.json"), "");
  writeFileSync(`${file}.new`, "2");
  renameSync(`${file}.new`, file);
  await sees(file);
  writeFileSync(file, "3");
  await sees(file);
  rmSync(file);
  await sees(file);

  expect(new Set(told.flat())).toEqual(new Set([file]));
});

test("watchFolders() does not look at what is never part of a skill", async () => {
  const folder = createFolder({ ".git/index": "", "node_modules/x/y.js": "", "a.txt": "" });
  const { watch, sees, told } = start();
  watch.setFolders([folder]);

  writeFiles(folder, { ".git/index": "x", ".git/new": "", "node_modules/x/y.js": "x", "a.txt~": "", "a.txt": "x" });
  await sees(join(folder, "a.txt"));

  expect(new Set(told.flat())).toEqual(new Set([join(folder, "a.txt")]));
});

test("close() ends all watches", async () => {
  const folder = createFolder({ "a/b/c.txt": "" });
  const { watch, told } = start();
  watch.setFolders([folder], [join(folder, "x.json")]);

  watch.close();
  writeFiles(folder, { "a/b/c.txt": "x" });
  await wait(150);

  expect(told).toEqual([]);
  expect(process.getActiveResourcesInfo()).not.toContain("FSEventWrap");
});

interface Started {
  readonly watch: FolderWatch;
  readonly told: (readonly string[])[];
  /** Waits until this path is hinted at, after what was seen before. */
  sees(path: string): Promise<void>;
}

function start(): Started {
  const told: (readonly string[])[] = [];
  let seen = 0;
  const watch = watchFolders((paths) => told.push(paths), { settleMs: 30 });
  onTestFinished(() => watch.close());
  return {
    watch,
    told,
    async sees(path) {
      for (const end = performance.now() + 15_000; !told.slice(seen).flat().includes(path);) {
        if (performance.now() > end) throw new Error(`nothing was told about ${path} in time`);
        await wait(5);
      }
      seen = told.length;
    },
  };
}
