import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createProject } from "../../../test/run-kitbag.ts";
import { configNames, findConfig, findConfigIn } from "./find-config.ts";

test.for(configNames)("findConfig() finds %s", (name) => {
  const project = createProject({ [name]: "" });

  expect(findConfig(project.folder)).toBe(join(project.folder, name));
});

test("findConfig() takes the nearest one above, findConfigIn() does not look above", () => {
  const project = createProject({ "kitbag.config.ts": "", "a/kitbag.config.js": "", "a/b/c/x": "" });

  expect(findConfig(join(project.folder, "a/b/c"))).toBe(join(project.folder, "a/kitbag.config.js"));
  expect(findConfigIn(join(project.folder, "a/b/c"))).toBeUndefined();
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
