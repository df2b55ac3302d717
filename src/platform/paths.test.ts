import { realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { isInside, showPath, toRealPath } from "./paths.ts";

test("toRealPath() follows links in the part of a path that is there, and keeps the rest", () => {
  const folder = realpathSync.native(createFolder({ "real/file.txt": "" }));
  symlinkSync(join(folder, "real"), join(folder, "link"));

  expect(toRealPath(join(folder, "link/file.txt"))).toBe(join(folder, "real/file.txt"));
  expect(toRealPath(join(folder, "link/not/there"))).toBe(join(folder, "real/not/there"));
  expect(toRealPath("/")).toBe("/");
});

test("isInside() compares whole names, and takes no name for an absolute path", () => {
  const inside = ["/a/b", "/a/b/c", "/a/b/..c", "/a/b/\\c", "/a/b/C:/c"];
  const outside = ["/a", "/a/bc", "/a/b/../c", "/"];

  expect(inside.filter((path) => isInside(path, "/a/b"))).toEqual(inside);
  expect(outside.filter((path) => isInside(path, "/a/b"))).toEqual([]);
});

test("showPath() quotes a path with characters that a reader does not see", () => {
  expect([showPath("/a/b c"), showPath("/ä"), showPath("/a\nb"), showPath("/a\u200Bb")]).toEqual([
    "/a/b c",
    "/ä",
    String.raw`"/a\nb"`,
    String.raw`"/a\u200bb"`,
  ]);
});
