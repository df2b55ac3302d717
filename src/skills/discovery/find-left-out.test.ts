import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join, relative } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { findLeftOut } from "./find-left-out.ts";
import { findSkills } from "./find-skills.ts";

test("findLeftOut() names every SKILL.md that findSkills() makes no skill of, with the reason", () => {
  const folder = createFolder({
    "suite/SKILL.md": "",
    "suite/qa/deep/SKILL.md": "",
    "suite/node_modules/x/SKILL.md": "",
    "node_modules/x/SKILL.md": "",
    ".kitbag/removed/old/SKILL.md": "",
    "skills/.curated/pdf/SKILL.md": "",
    [`${"d/".repeat(20)}SKILL.md`]: "",
    ".git/x/SKILL.md": "",
  });

  const { files, leftOut } = account(folder);

  expect(files).toBe(7);
  const codes = Object.fromEntries(leftOut.map(({ path, diagnostic }) => [relative(folder, path), diagnostic.code]));
  expect(codes).toEqual({
    ".kitbag/removed/old": "skill-kept",
    ["d/".repeat(20).slice(0, -1)]: "skill-deep",
    "node_modules/x": "skill-ignored",
    "suite/node_modules/x": "skill-ignored",
    "suite/qa/deep": "skill-nested",
  });
  expect(leftOut.every(({ diagnostic }) => diagnostic.severity === "info")).toBe(true);
});

test("findLeftOut() counts what find counts: links to files, but not what is behind links to folders", () => {
  const folder = createFolder({ "a/pdf/SKILL.md": "", "b/x": "", "c/skill.md": "" });
  symlinkSync("../a/pdf/SKILL.md", join(folder, "b/SKILL.md"));
  symlinkSync("a", join(folder, "link"));
  symlinkSync("..", join(folder, "a/loop"));

  const { files, leftOut } = account(folder);

  const byFind = execFileSync("find", [folder, "-name", "SKILL.md"], { encoding: "utf8" }).trim().split("\n");
  expect(files).toBe(byFind.length);
  expect(leftOut).toEqual([]);
});

test("findLeftOut() counts a folder once that is named twice, and nothing where nothing is", () => {
  const folder = createFolder({ "a/pdf/SKILL.md": "" });
  const directories = [folder, join(folder, "a"), join(folder, "a/pdf/SKILL.md"), join(folder, "gone")];

  expect(findLeftOut({ directories }, new Set([join(folder, "a/pdf")]))).toEqual({ files: 1, leftOut: [] });
});

function account(folder: string): ReturnType<typeof findLeftOut> {
  const { locations } = findSkills({ directories: [folder] });
  return findLeftOut({ directories: [folder] }, new Set(locations.map(({ directory }) => directory)));
}
