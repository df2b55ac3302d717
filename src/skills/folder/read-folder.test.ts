import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { readFolder } from "./read-folder.ts";
import { isInside } from "./is-inside.ts";
import { toFolderDigest } from "./to-digest.ts";

test("readFolder() lists every file with its digest, sorted, and keeps what it hashed", () => {
  const folder = createFolder({ "SKILL.md": "hello", "scripts/run.py": "print()", "references/a/b.md": "" });

  const snapshot = readFolder(folder);

  expect(snapshot.files.map((file) => file.path)).toEqual(["SKILL.md", "references/a/b.md", "scripts/run.py"]);
  expect(snapshot.files[0]).toEqual({
    path: "SKILL.md",
    bytes: 5,
    digest: "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
  });
  expect(Buffer.from(snapshot.contents.get("scripts/run.py") ?? []).toString()).toBe("print()");
  expect(snapshot.diagnostics).toEqual([]);
});

test("readFolder() gives another digest for any other byte, name or place", () => {
  const digests = [
    { "a.txt": "1" },
    { "a.txt": "2" },
    { "b.txt": "1" },
    { "x/a.txt": "1" },
    { "a.txt": "1", "b.txt": "" },
  ].map((files) => readFolder(createFolder(files)).digest);

  expect(new Set(digests).size).toBe(digests.length);
  expect(readFolder(createFolder({ "a.txt": "1" })).digest).toBe(digests[0]);
});

test("toFolderDigest() writes no two lists of files alike", () => {
  const file = (path: string) => ({ path, bytes: 0, digest: "sha256:0" });

  expect(toFolderDigest([file("ab"), file("c")])).not.toBe(toFolderDigest([file("a"), file("bc")]));
});

test("readFolder() leaves out what is never part of a skill", () => {
  const folder = createFolder({
    "SKILL.md": "",
    ".git/config": "",
    "node_modules/x/index.js": "",
    "__pycache__/x.pyc": "",
  });

  expect(readFolder(folder).files.map((file) => file.path)).toEqual(["SKILL.md"]);
});

test("R2: readFolder() refuses a folder with a link that leaves it, and reads nothing through it", () => {
  const outside = createFolder({ "secret.txt": "secret" });
  const folder = createFolder({ "SKILL.md": "" });
  symlinkSync(join(outside, "secret.txt"), join(folder, "file"));
  symlinkSync(outside, join(folder, "folder"));

  const snapshot = readFolder(folder);

  expect(snapshot.files.map((file) => file.path)).toEqual(["SKILL.md"]);
  expect(snapshot.diagnostics.map((one) => [one.severity, one.code, one.file])).toEqual([
    ["error", "link-outside", "file"],
    ["error", "link-outside", "folder"],
  ]);
});

test("readFolder() reads a link to a file of the same folder, and goes in no circle", () => {
  const folder = createFolder({ "a.txt": "a", "sub/b.txt": "b" });
  symlinkSync("a.txt", join(folder, "also-a"));
  symlinkSync("..", join(folder, "sub/up"));
  symlinkSync("nowhere", join(folder, "broken"));
  symlinkSync("loop", join(folder, "loop"));

  const snapshot = readFolder(folder);

  expect(snapshot.files.map((file) => file.path)).toEqual(["a.txt", "also-a", "sub/b.txt"]);
  expect(snapshot.diagnostics.map((one) => one.code).toSorted()).toEqual(["link-broken", "link-broken", "link-folder"]);
});

test("D8: readFolder() refuses files with setuid or setgid", () => {
  const folder = createFolder({ "SKILL.md": "", "scripts/run.sh": "", "scripts/group.sh": "" });
  chmodSync(join(folder, "scripts/run.sh"), 0o4755);
  chmodSync(join(folder, "scripts/group.sh"), 0o2755);

  const { diagnostics } = readFolder(folder);

  expect(diagnostics.map((one) => [one.severity, one.code])).toEqual([
    ["error", "file-setid"],
    ["error", "file-setid"],
  ]);
});

test("readFolder() does not wait for a pipe and does not open a device", () => {
  const folder = createFolder({ "SKILL.md": "" });
  execFileSync("mkfifo", [join(folder, "pipe")]);

  const snapshot = readFolder(folder);

  expect(snapshot.files.map((file) => file.path)).toEqual(["SKILL.md"]);
  expect(snapshot.diagnostics).toMatchObject([{ severity: "warning", code: "file-special", file: "pipe" }]);
});

test("readFolder() ends at its limits and says so", () => {
  const many = createFolder(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, "x"])));
  const large = createFolder({ "big.bin": "x".repeat(5000) });
  const deep = createFolder({ "a/b/c/d.txt": "x" });

  expect(readFolder(many, { maxItems: 10 }).diagnostics).toMatchObject([{ severity: "error", code: "folder-large" }]);
  expect(readFolder(large, { maxBytes: 1000 }).diagnostics).toMatchObject([
    { severity: "error", code: "folder-large" },
  ]);
  expect(readFolder(deep, { maxDepth: 1 }).diagnostics).toMatchObject([{ severity: "warning", code: "folder-deep" }]);
});

test("readFolder() hashes a large file without keeping it", () => {
  const folder = createFolder({ "big.bin": "x".repeat(2 * 1024 * 1024) });

  const snapshot = readFolder(folder);

  expect(snapshot.files).toMatchObject([{ path: "big.bin", bytes: 2 * 1024 * 1024 }]);
  expect(snapshot.contents.size).toBe(0);
});

test("readFolder() says that a folder is not there", () => {
  const file = join(createFolder({ "SKILL.md": "" }), "SKILL.md");

  expect(readFolder("/nowhere/at/all").diagnostics).toMatchObject([{ severity: "error", code: "folder-missing" }]);
  expect(readFolder(file).diagnostics).toMatchObject([{ severity: "error", code: "folder-missing" }]);
});

test("readFolder() takes a hard link as a file of its own", () => {
  const folder = createFolder({ "a.txt": "a" });
  linkSync(join(folder, "a.txt"), join(folder, "b.txt"));

  expect(readFolder(folder).files.map((file) => file.path)).toEqual(["a.txt", "b.txt"]);
});

test("R1: isInside() compares whole names, not beginnings", () => {
  expect(isInside("/data/x", "/data")).toBe(true);
  expect(isInside("/data", "/data")).toBe(true);
  expect(isInside("/data/..x", "/data")).toBe(true);
  expect(isInside("/data-evil/x", "/data")).toBe(false);
  expect(isInside("/", "/data")).toBe(false);
  fc.assert(
    fc.property(fc.array(fc.constantFrom("..", ".", "a", "data", "data-evil", "%2e%2e")), (steps) => {
      const path = join("/data", ...steps);

      expect(isInside(path, "/data")).toBe(path === "/data" || path === "/data/" || path.startsWith("/data/"));
    }),
  );
});
