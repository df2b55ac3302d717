import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { findProject } from "./find-project.ts";
import { findStoreFile } from "./find-store-file.ts";

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

function makeFolders(...paths: readonly string[]): string {
  const root = realpathSync(createFolder());
  for (const path of paths) mkdirSync(join(root, path), { recursive: true });
  return root;
}
