import { symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { createFileLister } from "./open-served.ts";

const files = { "a.md": "", "about/x.txt": "", "about/deep/y.txt": "", "b.md": "", ".env": "", ".git/config": "" };

test.for([
  ["", ["a.md", "about/", "b.md"]],
  ["a", ["a.md", "about/"]],
  ["about/", ["about/deep/", "about/x.txt"]],
  ["about/d", ["about/deep/"]],
  ["./a", ["./a.md", "./about/"]],
  [".", [".env", ".git/"]],
  [".e", [".env"]],
  ["nothing", []],
  ["nothing/", []],
  ["a.md/", []],
] as const)("createFileLister() finds for %j what begins with it", async ([typed, expected]) => {
  const list = createFileLister(createFolder(files));

  expect(await list(typed)).toEqual(expected);
});

test.for(["../", "..", "about/../../", "/", "/etc/", "/etc/pass", "about/\0/", "link/", "link/pass", "loop/loop/"])(
  "createFileLister() finds nothing outside of the project for %j",
  async (typed) => {
    const project = createFolder(files);
    symlinkSync("/etc", join(project, "link"));
    symlinkSync("loop", join(project, "loop"));

    expect(await createFileLister(project)(typed)).toEqual([]);
  },
);

test.for([".", ".k", ".kitbag", ".kitbag/", ".kitbag/tools/", "sub/.", "sub/.kitbag/", "./.KITBAG/", "way/", "way/a"])(
  "createFileLister() finds nothing of a .kitbag for %j",
  async (typed) => {
    const own = { ".kitbag/tools/a/main.js": "", "sub/.kitbag/tools/a/main.js": "", ".KITBAG/b.js": "" };
    const project = createFolder(own);
    symlinkSync(".kitbag/tools", join(project, "way"));

    expect(await createFileLister(project)(typed)).toEqual([]);
  },
);

test("createFileLister() shows no links, and looks into a project that is reached through one", async () => {
  const project = createFolder({ "real/a.md": "" });
  symlinkSync(join(project, "real"), join(project, "way"));
  symlinkSync("/etc/passwd", join(project, "real", "a-link"));

  expect(await createFileLister(join(project, "way"))("a")).toEqual(["a.md"]);
});

test("createFileLister() finds at most 200 paths", async () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`file-${index}`, ""]));

  expect(await createFileLister(createFolder(many))("file")).toHaveLength(200);
});

test("createFileLister() finds nothing in a project that is not there", async () => {
  expect(await createFileLister(join(createFolder(), "gone"))("")).toEqual([]);
});
