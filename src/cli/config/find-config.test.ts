import { lchownSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createProject } from "../../../test/run-kitbag.ts";
import { configNames, findConfig, findConfigIn } from "./find-config.ts";
import { findTrustTarget } from "./find-trust-target.ts";

test.for(configNames)("findConfig() finds %s", (name) => {
  const project = createProject({ [name]: "" });

  expect(findConfig(project.folder)).toBe(join(project.folder, name));
});

test("findConfig() takes the nearest one above, findConfigIn() does not look above", () => {
  const project = createProject({ ".git/HEAD": "", "kitbag.config.ts": "", "a/kitbag.config.js": "", "a/b/c/x": "" });

  expect(findConfig(join(project.folder, "a/b/c"))).toBe(join(project.folder, "a/kitbag.config.js"));
  expect(findConfigIn(join(project.folder, "a/b/c"))).toBeUndefined();
});

test.for([
  ["the root of a repository", "a/.git/HEAD", "a/b"],
  ["the working directory, without a repository", "a/b/x", "a/b"],
  ["the folder of a .kitbag, without a repository", "a/.kitbag/tools/x", "a/b"],
] as const)("findConfig() does not look above %s", ([, file, folder]) => {
  const project = createProject({ "kitbag.config.json": "{}", [file]: "", "a/b/c": "" });

  expect(findConfig(join(project.folder, folder))).toBeUndefined();
});

test("findConfig() looks in all folders of a project, up to its root", () => {
  const project = createProject({ ".kitbag/tools/x": "", "kitbag.config.json": "{}", "a/b/c": "" });

  expect(findConfig(join(project.folder, "a/b"))).toBe(join(project.folder, "kitbag.config.json"));
});

test.for(["file", "link"] as const)("findConfig() refuses the %s of another user, with a cure", (kind, { skip }) => {
  skip(process.getuid?.() !== 0, "only root can give a file away");
  const project = createProject({ "real.json": "{}" });
  const path = join(project.folder, "kitbag.config.json");
  if (kind === "link") symlinkSync("real.json", path);
  else renameSync(join(project.folder, "real.json"), path);
  lchownSync(path, 61_234, 61_234);

  for (const find of [findConfig, findTrustTarget]) {
    expect(() => find(project.folder)).toThrow(
      "it belongs to another user (uid 61234), and you are uid 0; make it yours with chown",
    );
  }
});

test("findConfig() does not choose between two", () => {
  const project = createProject({ "kitbag.config.ts": "", "kitbag.config.json": "" });

  expect(() => findConfig(project.folder)).toThrow(/the folder also has .*kitbag\.config\.json; keep one of them/u);
});

test("findConfig() answers with the real path of a link", () => {
  const project = createProject({ "real.ts": "" });
  symlinkSync("real.ts", join(project.folder, "kitbag.config.ts"));

  expect(findConfig(project.folder)).toBe(join(project.folder, "real.ts"));
});

test.for([
  ["a folder", (path: string) => mkdirSync(path), "it is not a file"],
  ["a link to nothing", (path: string) => symlinkSync("nothing", path), "there is no such file"],
  ["a link to itself", (path: string) => symlinkSync("kitbag.config.ts", path), "its symbolic links lead in a circle"],
] as const)("findConfig() refuses %s", ([, make, reason]) => {
  const project = createProject();
  make(join(project.folder, "kitbag.config.ts"));

  expect(() => findConfig(project.folder)).toThrow(reason);
});
