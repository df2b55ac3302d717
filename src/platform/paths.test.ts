import { realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { toRealPath } from "./paths.ts";

test("toRealPath() follows links in the part of a path that is there, and keeps the rest", () => {
  const folder = realpathSync.native(createFolder({ "real/file.txt": "" }));
  symlinkSync(join(folder, "real"), join(folder, "link"));

  expect(toRealPath(join(folder, "link/file.txt"))).toBe(join(folder, "real/file.txt"));
  expect(toRealPath(join(folder, "link/not/there"))).toBe(join(folder, "real/not/there"));
  expect(toRealPath("/")).toBe("/");
});
