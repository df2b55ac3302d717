import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { holdFolder, isHeld } from "./work-area.ts";

test("isHeld() tells whether a process holds a folder, and that it has ended, however it did", async () => {
  const folder = createFolder();
  const program = `import(${JSON.stringify(join(import.meta.dirname, "work-area.ts"))}).then(({ holdFolder }) => {
    holdFolder(${JSON.stringify(folder)}); console.log("held"); setInterval(() => {}, 1000); })`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");

  const during = await isHeld(folder);
  child.kill("SIGKILL");
  await once(child, "exit");

  expect([during, await isHeld(folder)]).toEqual([true, false]);
});

test("isHeld() is over when the folder is released", async () => {
  const folder = createFolder();
  const release = holdFolder(folder);
  const during = await isHeld(folder);
  release();

  expect([during, await isHeld(folder)]).toEqual([true, false]);
});

test("holdFolder() holds a folder whose path is longer than that of a socket may be", async () => {
  const folder = join(createFolder(), "a".repeat(120));
  mkdirSync(folder);
  const release = holdFolder(folder);

  expect(await isHeld(folder)).toBe(true);
  release();
});

test("isHeld() takes a folder without a holder as held while it is young", async () => {
  const folder = createFolder();
  const young = await isHeld(folder);
  utimesSync(folder, 0, 0);

  expect([young, await isHeld(folder)]).toEqual([true, false]);
});

test("isHeld() takes a folder that is gone as not held", async () => {
  expect(await isHeld(join(createFolder(), "gone"))).toBe(false);
});
