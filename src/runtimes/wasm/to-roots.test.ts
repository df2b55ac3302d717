import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import type { Mount, Sandbox } from "../../sandbox/sandbox.ts";
import { toRoots } from "./find-hosts.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-roots-")));
mkdirSync(join(folder, "data"));
writeFileSync(join(folder, "a.txt"), "");
writeFileSync(join(folder, "b.txt"), "");
symlinkSync("data", join(folder, "link"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("toRoots() shows a directory under its path", () => {
  expect(roots([{ source: join(folder, "data"), target: join(folder, "data"), granted: true }])).toEqual([
    { name: join(folder, "data"), path: join(folder, "data"), access: "read", only: {} },
  ]);
});

test("toRoots() shows single files of one directory together, and nothing else of it", () => {
  const mounts = ["a.txt", "b.txt"].map((name) => ({
    source: join(folder, name),
    target: join(folder, name),
    granted: true,
    write: name === "b.txt",
  }));

  expect(roots(mounts)).toEqual([{ name: folder, path: folder, only: { "a.txt": "read", "b.txt": "write" } }]);
});

test("toRoots() shows what is below the working directory also under its relative name", () => {
  const mounts = [{ source: join(folder, "data"), target: join(folder, "data"), granted: true, write: true }];

  const names = toRoots(mounts, { sandbox: inside, directory: folder }).map(({ name }) => name);
  const own = toRoots(mounts, { sandbox: inside, directory: join(folder, "data") }).map(({ name }) => name);

  expect(names).toEqual([join(folder, "data"), "data"]);
  expect(own).toEqual([join(folder, "data"), "."]);
});

test("toRoots() shows nothing that was mounted for another reason", () => {
  expect(roots([{ source: join(folder, "data"), target: join(folder, "data") }])).toEqual([]);
});

test("toRoots() looks for files where they are in a sandbox that keeps the paths of the machine", () => {
  const mounts = [{ source: join(folder, "data"), target: join(folder, "link"), granted: true }];

  const [root] = toRoots(mounts, { sandbox: { ...inside, keepsPaths: true }, directory: "/elsewhere" });

  expect(root).toMatchObject({ name: join(folder, "link"), path: join(folder, "data") });
});

const inside: Sandbox = {
  name: "bubblewrap",
  enforces: new Set(),
  start: () => Promise.reject(new Error("Nothing is started here")),
  close: () => Promise.resolve(),
};

function roots(mounts: readonly Mount[]): unknown {
  return toRoots(mounts, { sandbox: inside, directory: "/elsewhere" });
}
