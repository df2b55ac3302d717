import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import type { CodeFolder } from "../core/script-code.ts";
import { createSnapshots } from "./snapshots.ts";

test("take() copies the files, with the right to run them, and nothing else", async () => {
  const { folder, snapshots } = makeFolder({ "a.sh": "echo a", "deep/er/b.txt": "b" });
  writeFileSync(join(folder.directory, "unlisted"), "x");

  const copy = await snapshots.take(folder);

  expect(readdirSync(copy, { recursive: true }).map(String).toSorted()).toEqual([
    "a.sh",
    "deep",
    "deep/er",
    "deep/er/b.txt",
  ]);
  expect(readFileSync(join(copy, "deep/er/b.txt"), "utf8")).toBe("b");
  expect(statSync(join(copy, "a.sh")).mode & 0o777).toBe(0o755);
});

test("take() keeps the modes of the originals; as root, programs inside may read and run what the owner may", async () => {
  const { folder, snapshots } = makeFolder({ "a.sh": "a", "b.txt": "b", "c.txt": "c" });
  chmodSync(join(folder.directory, "a.sh"), 0o700);
  chmodSync(join(folder.directory, "c.txt"), 0o600);

  const copy = await snapshots.take(folder);

  const modes = ["a.sh", "b.txt", "c.txt"].map((name) => statSync(join(copy, name)).mode & 0o777);
  expect(modes).toEqual(process.getuid?.() === 0 ? [0o755, 0o644, 0o644] : [0o700, 0o640, 0o600]);
});

test("take() gives the same copy as long as the folder is the same", async () => {
  const { folder, snapshots } = makeFolder({ a: "a" });

  const copies = await Promise.all([snapshots.take(folder), snapshots.take({ ...folder }), snapshots.take(folder)]);
  const other = await snapshots.take({ ...folder, digest: "other" });

  expect(new Set(copies).size).toBe(1);
  expect(other).not.toBe(copies[0]);
});

test("take() keeps its copy when the folder changes later", async () => {
  const { folder, snapshots } = makeFolder({ a: "a" });
  const copy = await snapshots.take(folder);

  writeFileSync(join(folder.directory, "a"), "b");

  expect(readFileSync(join(copy, "a"), "utf8")).toBe("a");
});

test.for<[string, (path: string) => void]>([
  ["a changed byte", (path) => writeFileSync(path, "b")],
  ["a file that is gone", (path) => rmSync(path)],
  [
    "a link in its place, also to the same bytes",
    (path) => (rmSync(path), (writeFileSync(`${path}.other`, "a"), symlinkSync(`${path}.other`, path))),
  ],
  ["a directory in its place", (path) => (rmSync(path), mkdirSync(path))],
  ["a pipe in its place", (path) => (rmSync(path), execFileSync("mkfifo", [path]))],
  ["a huge file in its place", (path) => truncateSync(path, 1e12)],
])("take() refuses %s, at once", async ([, change]) => {
  const { folder, snapshots, own } = makeFolder({ a: "a" });
  change(join(folder.directory, "a"));

  await expect(snapshots.take(folder)).rejects.toMatchObject({ code: "script-changed" });
  expect(readdirSync(own)).toEqual([]);
});

test.for(["../a", "/etc/passwd", "deep/../../a", "."])("take() refuses the path %s", async (path) => {
  const { folder, snapshots } = makeFolder({ a: "a" });
  const files = folder.files.map((file) => ({ ...file, path }));

  await expect(snapshots.take({ ...folder, files })).rejects.toMatchObject({ code: "script-changed" });
});

test("take() tries again after a folder was refused", async () => {
  const { folder, snapshots } = makeFolder({ a: "a" });
  const path = join(folder.directory, "a");
  writeFileSync(path, "b");
  await snapshots.take(folder).catch(() => undefined);
  writeFileSync(path, "a");

  const copy = await snapshots.take(folder);

  expect(readFileSync(join(copy, "a"), "utf8")).toBe("a");
});

function makeFolder(files: Readonly<Record<string, string>>) {
  const root = createFolder();
  const [directory, own] = [join(root, "skill"), join(root, "own")];
  mkdirSync(own);
  const list = Object.entries(files).map(([path, text]) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text, { mode: path.endsWith(".sh") ? 0o755 : 0o640 });
    return { path, bytes: text.length, digest: `sha256:${createHash("sha256").update(text).digest("hex")}` };
  });
  const folder: CodeFolder = { directory, files: list, digest: "digest" };
  return { folder, own, snapshots: createSnapshots(own) };
}
