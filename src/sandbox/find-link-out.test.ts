import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { findLinkOut } from "./find-link-out.ts";

test("findLinkOut() finds a link that was there only when the path was resolved", () => {
  const folder = realpathSync(createFolder({ "out/data/note.txt": "" }));
  const path = join(folder, "out/data");

  expect(findLinkOut(folder, path, path)).toBeUndefined();
  expect(findLinkOut(folder, path, "/etc")).toEqual({ link: path, target: "/etc" });
});

test("findLinkOut() finds a link that was there only when the path was resolved, and nothing is there now", () => {
  const folder = realpathSync(createFolder({ "out/x": "" }));
  const path = join(folder, "out/made/later");

  expect(findLinkOut(folder, path, path)).toBeUndefined();
  expect(findLinkOut(folder, path, "/etc")).toEqual({ link: path, target: "/etc" });
});

test("findLinkOut() follows a link that leads further down, and compares with where it leads", () => {
  const folder = realpathSync(createFolder());
  mkdirSync(join(folder, "data/june"), { recursive: true });
  symlinkSync("data/june", join(folder, "latest"));

  expect(findLinkOut(folder, join(folder, "latest"), join(folder, "data/june"))).toBeUndefined();
});
