import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { defaultLimits, type Profile } from "./sandbox.ts";
import { fillOrEnd, makeWorkFolder, toWorkMounts, walkFolder, watchWorkFolder, workTarget } from "./work-folder.ts";
import { removeTree } from "./work-area.ts";

const profile: Profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };

test("makeWorkFolder() makes a folder of its own each time, which no other user can enter", () => {
  const directory = createFolder();

  const [one, other] = [makeWorkFolder(directory), makeWorkFolder(directory)];

  expect(one.root).not.toBe(other.root);
  expect([one.root, one.files, one.home, one.temporary].map((path) => statSync(path).mode & 0o777)).toEqual([
    0o700, 0o700, 0o700, 0o700,
  ]);
});

test("toWorkMounts() leaves /tmp alone where something of the profile is below it", () => {
  const folder = makeWorkFolder(createFolder());
  const targets = (parts: Partial<Profile>): string[] =>
    toWorkMounts(folder, { ...profile, ...parts }).map(({ target }) => target);

  expect(targets({})).toEqual([workTarget, "/tmp"]);
  expect(targets({ sealed: ["/tmp/project"] })).toEqual([workTarget]);
  expect(targets({ mounts: [{ source: "/a", target: "/tmp/a" }] })).toEqual([workTarget]);
});

test("walkFolder() finds links but does not follow them, and opens what was closed only if it is told to", async () => {
  const root = createFolder();
  mkdirSync(join(root, "closed"));
  writeFileSync(join(root, "closed/a.txt"), "");
  symlinkSync("/", join(root, "link"));
  const walk = async (reopens: boolean): Promise<string[]> => {
    chmodSync(join(root, "closed"), 0);
    const found: string[] = [];
    for await (const { path } of walkFolder(root, { reopens })) found.push(path.slice(root.length + 1));
    return found.toSorted();
  };

  const [opened, closed] = [await walk(true), await walk(false)];
  chmodSync(join(root, "closed"), 0o700);

  expect(opened).toEqual(["closed", "closed/a.txt", "link"]);
  // Root may look into all of them.
  if (process.getuid?.() !== 0) expect(closed).toEqual(["closed", "link"]);
});

test("watchWorkFolder() tells once that too much is in a folder, wherever in it", async () => {
  const folder = makeWorkFolder(createFolder());
  let count = 0;
  const { promise: full, resolve } = Promise.withResolvers<void>();
  const stop = watchWorkFolder(folder, 100_000, () => {
    count += 1;
    resolve();
  });

  writeFileSync(join(folder.temporary, "large"), Buffer.alloc(200_000, "x"));
  await full;
  await wait(250);
  stop();

  expect(count).toBe(1);
});

test("watchWorkFolder() takes a folder that it cannot look into for full", async () => {
  const folder = makeWorkFolder(createFolder());
  const { promise: full, resolve } = Promise.withResolvers<void>();
  // A program that goes from folder to folder can make paths that are too long for others.
  const script = `i=0; while [ $i -lt 25 ]; do mkdir $1 && cd -P $1 || exit 1; i=$((i+1)); done; echo x > large`;
  execFileSync("/bin/bash", ["-c", script, "sh", "n".repeat(200)], { cwd: folder.files });

  const stop = watchWorkFolder(folder, 100_000_000, resolve);
  await full;
  stop();
  await removeTree(folder.root);
});

test("fillOrEnd() ends what waits, and removes the folder, if it cannot be filled", async () => {
  const folder = makeWorkFolder(createFolder());
  let isEnded = false;
  const fill = async (): Promise<void> => {
    throw new Error("gone");
  };

  await expect(fillOrEnd(folder, fill, () => void (isEnded = true))).rejects.toThrow("gone");

  expect(isEnded).toBe(true);
  expect(existsSync(folder.root)).toBe(false);
});
