import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import {
  appendLine,
  createFileAtomically,
  describeFileError,
  describeForeignOwner,
  readTextIfExists,
  rememberFile,
  renameDurably,
  replaceFolder,
  syncFolder,
  writeFileAtomically,
} from "./files.ts";

test("writeFileAtomically() replaces a file for its owner alone, and leaves no draft", () => {
  const folder = createFolder({ file: "old" });

  writeFileAtomically(join(folder, "file"), "new");
  writeFileAtomically(join(folder, "shared"), new Uint8Array([65]), { mode: 0o644 });

  expect(readFileSync(join(folder, "file"), "utf8")).toBe("new");
  expect(statSync(join(folder, "file")).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, "shared")).mode & 0o777).toBe(0o644);
  expect(readdirSync(folder)).toEqual(["file", "shared"]);
});

test("writeFileAtomically() replaces a symlink, and does not write to what it points to", () => {
  const folder = createFolder({ target: "untouched" });
  symlinkSync(join(folder, "target"), join(folder, "file"));

  writeFileAtomically(join(folder, "file"), "new");

  expect(lstatSync(join(folder, "file")).isFile()).toBe(true);
  expect(readFileSync(join(folder, "target"), "utf8")).toBe("untouched");
});

test("writeFileAtomically() throws the error of the file system, and leaves no draft", () => {
  const folder = createFolder({ "taken/file": "" });

  expect(() => writeFileAtomically(join(folder, "taken"), "new")).toThrow(/EISDIR|EPERM/u);
  expect(() => writeFileAtomically(join(folder, "missing/file"), "new")).toThrow("ENOENT");
  expect(readdirSync(folder)).toEqual(["taken"]);
});

test("createFileAtomically() keeps a file that exists, and leaves no draft", () => {
  const folder = createFolder({});

  expect(createFileAtomically(join(folder, "file"), "first")).toBe(true);
  expect(createFileAtomically(join(folder, "file"), "second")).toBe(false);
  expect(() => createFileAtomically(join(folder, "missing/file"), "")).toThrow("ENOENT");

  expect(readFileSync(join(folder, "file"), "utf8")).toBe("first");
  expect(readdirSync(folder)).toEqual(["file"]);
});

test("replaceFolder() replaces all that was in a folder", () => {
  const folder = createFolder({ "tool/old.txt": "" });

  replaceFolder(join(folder, "tool"), new Map([["deep/new.txt", Buffer.from("new")]]));

  expect(listAll(folder)).toEqual(["tool", "tool/deep", "tool/deep/new.txt"]);
});

test("replaceFolder() keeps the folder that is there if the new one cannot be written", () => {
  const folder = createFolder({ "tool/old.txt": "old" });
  const files = new Map([
    ["a", Buffer.from("")],
    ["a/b", Buffer.from("")],
  ]);

  expect(() => replaceFolder(join(folder, "tool"), files)).toThrow(/EEXIST|ENOTDIR/u);

  expect(listAll(folder)).toEqual(["tool", "tool/old.txt"]);
});

test("appendLine() adds a line to a file, which need not exist", () => {
  const file = join(createFolder({}), "log");

  appendLine(file, "one");
  appendLine(file, "two");

  expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
});

test("renameDurably() gives a file its name, in the place of another", () => {
  const folder = createFolder({ draft: "new", file: "old" });

  renameDurably(join(folder, "draft"), join(folder, "file"));

  expect(readFileSync(join(folder, "file"), "utf8")).toBe("new");
  expect(readdirSync(folder)).toEqual(["file"]);
  expect(() => renameDurably(join(folder, "missing"), join(folder, "file"))).toThrow("ENOENT");
});

test("syncFolder() ignores a folder that cannot be flushed", () => {
  expect(() => syncFolder("/does/not/exist")).not.toThrow();
});

test("readTextIfExists() answers with undefined only for a file that does not exist", () => {
  const folder = createFolder({ file: "text" });

  expect(readTextIfExists(join(folder, "file"))).toBe("text");
  expect(readTextIfExists(join(folder, "missing"))).toBeUndefined();
  expect(() => readTextIfExists(folder)).toThrow("EISDIR");
});

test("rememberFile() loads a file again when it was replaced, and when loading failed", () => {
  const file = join(createFolder({}), "file");
  let loads = 0;
  const load = rememberFile(file, () => {
    loads += 1;
    return readFileSync(file, "utf8");
  });

  expect(load).toThrow("ENOENT");
  writeFileSync(file, "one");
  expect([load(), load()]).toEqual(["one", "one"]);
  writeFileAtomically(file, "two");
  expect(load()).toBe("two");
  expect(loads).toBe(3);
});

test("describeFileError() says in words why a file could not be read", () => {
  const folder = createFolder({});
  mkdirSync(join(folder, "folder"));
  symlinkSync("loop", join(folder, "loop"));

  expect(["missing", "folder", "loop", "\0"].map((name) => failureOf(join(folder, name)))).toEqual([
    "there is no such file",
    "it is a folder",
    "its symbolic links lead in a circle",
    expect.stringContaining("null bytes"),
  ]);
  expect(describeFileError(Object.assign(new Error("no"), { code: "EACCES" }))).toBe("there is no permission for it");
});

test("describeForeignOwner() accepts files of this user and of root", () => {
  expect([describeForeignOwner({ uid: 7 }, 7), describeForeignOwner({ uid: 0 }, 7)]).toEqual([undefined, undefined]);
  expect(describeForeignOwner({ uid: 8 }, 7)).toContain("it belongs to another user (uid 8)");
});

function failureOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    return describeFileError(cause);
  }
}

function listAll(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
}
