import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { canBeProject, findProject } from "./find-project.ts";
import { findStoreFile } from "./choose-store.ts";

test("findProject() takes the nearest folder with a .kitbag, before the root of the repository", () => {
  const root = makeFolders(".git", "packages/one/.kitbag", "packages/one/src");

  const place = findProject(join(root, "packages/one/src"), "/nowhere");

  expect(place.root).toBe(join(root, "packages/one"));
  expect(place.folders).toEqual(["packages/one/src", "packages/one", "packages", ""].map((path) => join(root, path)));
});

test("findProject() takes the root of the repository if there is no .kitbag, also one that is a file", () => {
  const root = makeFolders("repository/.git", "repository/src", ".kitbag");

  expect(findProject(join(root, "repository/src"), "/nowhere").root).toBe(join(root, "repository"));
});

test("findProject() finds none in a folder that belongs to nothing", () => {
  const root = makeFolders("a");

  expect(findProject(join(root, "a"), root)).toEqual({ folders: [join(root, "a")] });
});

test("findProject() takes the home directory for no project, nor what is above it", () => {
  const root = makeFolders(".git", "home/.kitbag", "home/work");

  expect(findProject(join(root, "home/work"), join(root, "home")).root).toBeUndefined();
  expect(findProject(join(root, "home"), join(root, "home")).root).toBeUndefined();
});

test.for(["tokens", "trust.json", "audit.key"])(
  "findProject() takes a .kitbag with %s for that of another home, not for a project",
  (name) => {
    const root = makeFolders(".git", "old/.kitbag", "old/work", "old/work/project/.kitbag");
    writeFileSync(join(root, "old/.kitbag", name), "");

    expect(findProject(join(root, "old/work"), "/nowhere")).toEqual({ folders: [join(root, "old/work")] });
    expect(findProject(join(root, "old"), "/nowhere").root).toBeUndefined();
    expect(canBeProject(join(root, "old"), "/nowhere")).toBe(false);
    expect(findProject(join(root, "old/work/project"), "/nowhere").root).toBe(join(root, "old/work/project"));
    for (const makesTools of [true, false]) {
      expect(findStoreFile(join(root, "old"), "/home", { makesTools }).file).toBe("/home/kitbag.db");
    }
  },
);

test("findProject() looks at the folders of a repository whose .kitbag is a home, and keeps no store there", () => {
  const root = makeFolders(".git", ".kitbag", "sub");
  writeFileSync(join(root, ".kitbag/trust.json"), "{}");

  expect(findProject(join(root, "sub"), "/nowhere")).toEqual({ folders: [join(root, "sub"), root] });
});

test("findProject() follows no .kitbag that is a link", () => {
  const root = makeFolders("elsewhere", "project/.git");
  symlinkSync(join(root, "elsewhere"), join(root, "project/.kitbag"));
  mkdirSync(join(root, "project/sub"));

  expect(findProject(join(root, "project/sub"), "/nowhere").folders).toHaveLength(2);
  expect(findStoreFile(join(root, "project/sub"), "/home").file).toBe(join(root, "project/.kitbag/kitbag.db"));
});

test("findStoreFile() goes to the person's own folder outside of a project", () => {
  const root = makeFolders("a");

  const found = findStoreFile("/", join(root, "home"));

  expect(found).toEqual({ file: join(root, "home/kitbag.db"), isNamed: false });
});

test("findStoreFile() stays in a folder where tools may be made, before it has a .kitbag and afterwards", () => {
  const root = makeFolders("alone", "repository/.git", "repository/sub");
  const find = (path: string): string => findStoreFile(join(root, path), "/home", { makesTools: true }).file;

  expect(find("alone")).toBe(join(root, "alone/.kitbag/kitbag.db"));
  expect(find("repository/sub")).toBe(join(root, "repository/sub/.kitbag/kitbag.db"));
});

test("canBeProject() refuses the home directory, a link, and what cannot be written", () => {
  const root = makeFolders("home", "elsewhere", "linked", "fixed", "free");
  symlinkSync(join(root, "elsewhere"), join(root, "linked/.kitbag"));
  chmodSync(join(root, "fixed"), 0o555);
  const isAllowed = (path: string): boolean => canBeProject(join(root, path), join(root, "home"));

  expect(["home", "linked", "free"].map(isAllowed)).toEqual([false, false, true]);
  if (process.getuid?.() !== 0) expect(isAllowed("fixed")).toBe(false);
});

function makeFolders(...paths: readonly string[]): string {
  const root = realpathSync(createFolder());
  for (const path of paths) mkdirSync(join(root, path), { recursive: true });
  return root;
}
