import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { findSkills } from "./find-skills.ts";
import { skillRoots } from "../watch/skill-source.ts";

test("findSkills() takes a named folder as a skill, or looks for skills below it", () => {
  const folder = createFolder({
    "one/SKILL.md": "",
    "group/two/skill.md": "",
    "group/README.md": "",
    "three/manifest.json": '{ "name": "three", "tool_type": "script" }',
    "four/skill.ts": "export default defineSkill({})",
  });

  expect(found(folder, { directories: [folder] })).toEqual(["four", "group/two", "one", "three"]);
  expect(found(folder, { directories: [join(folder, "one")] })).toEqual(["one"]);
  expect(found(folder, { directories: [join(folder, "one/SKILL.md")] })).toEqual(["one"]);
  expect(found(folder, { directories: [join(folder, "four/skill.ts")] })).toEqual(["four"]);
});

test("findSkills() does not look again into a folder that is known to be a skill", () => {
  const folder = createFolder({ "one/notes.txt": "", "group/two/SKILL.md": "" });
  const asked: string[] = [];

  const { locations } = findSkills({ directories: [folder] }, (directory) => {
    asked.push(relative(folder, directory));
    return directory.endsWith("one");
  });

  expect(locations.map(({ path }) => relative(folder, path))).toEqual(["group/two", "one"]);
  expect(asked).toEqual(["", "group", "group/two", "one"]);
});

test("findSkills() looks in the project upwards to the root of the repository, then in the home directory", () => {
  const folder = createFolder({
    "outside/.agents/skills/never/SKILL.md": "",
    "outside/project/.git/HEAD": "",
    "outside/project/.claude/skills/root/SKILL.md": "",
    "outside/project/app/.agents/skills/near/SKILL.md": "",
    "outside/project/app/.kitbag/skills/nearest/SKILL.md": "",
    "home/.agents/skills/mine/SKILL.md": "",
  });

  const { locations } = findSkills({
    workingDirectory: join(folder, "outside/project/app"),
    homeDirectory: join(folder, "home"),
  });

  expect(locations.map((one) => [one.scope, relative(folder, one.path)])).toEqual([
    ["project", "outside/project/app/.kitbag/skills/nearest"],
    ["project", "outside/project/app/.agents/skills/near"],
    ["project", "outside/project/.claude/skills/root"],
    ["user", "home/.agents/skills/mine"],
  ]);
});

test("findSkills() finds no skills that were removed, and no earlier versions, in a project that is named", () => {
  const folder = createFolder({
    ".kitbag/removed/old/files/SKILL.md": "",
    ".kitbag/skill-versions/talk/1.0.0/SKILL.md": "",
    ".kitbag/skills/talk/SKILL.md": "",
    "skills/removed/SKILL.md": "",
  });

  expect(found(folder, { directories: [folder] })).toEqual([".kitbag/skills/talk", "skills/removed"]);
  const version = join(folder, ".kitbag/skill-versions/talk/1.0.0");
  expect(found(folder, { directories: [version] })).toEqual([".kitbag/skill-versions/talk/1.0.0"]);
});

test("findSkills() looks only where we are when there is no repository", () => {
  const folder = createFolder({ ".agents/skills/above/SKILL.md": "", "work/.agents/skills/here/SKILL.md": "" });

  expect(found(folder, { workingDirectory: join(folder, "work") })).toEqual(["work/.agents/skills/here"]);
});

test("findSkills() finds a skill once that several links lead to", () => {
  const folder = createFolder({ ".agents/skills/pdf/SKILL.md": "" });
  mkdirSync(join(folder, ".claude/skills"), { recursive: true });
  symlinkSync("../../.agents/skills/pdf", join(folder, ".claude/skills/pdf"));
  symlinkSync("..", join(folder, ".agents/skills/loop"));

  expect(found(folder, { workingDirectory: folder })).toEqual([".agents/skills/pdf"]);
});

test.for([
  ["manifest.json", "is a browser extension's", '{ "manifest_version": 3, "name": "A web extension" }'],
  ["manifest.json", "has a tool somewhere inside", '{ "inner": { "tool_type": "script" } }'],
  ["manifest.json", "is a list", '[{ "tool_type": "script" }]'],
  ["manifest.json", "is null", "null"],
  ["manifest.json", "is empty", ""],
  ["manifest.json", "is huge", `{ "tool_type": "script", "text": "${"x".repeat(2 * 1024 * 1024)}" }`],
  ["skill.ts", "is a game's", "export const skill = { fireball: 3 };"],
  ["skill.js", "has a similar word", "const undefineSkills = 1;"],
  ["skill.mjs", "is empty", ""],
] as const)("findSkills() looks below a folder whose %s %s", ([name, , text]) => {
  const folder = createFolder({ [name]: text, "below/SKILL.md": "" });

  expect(found(folder, { directories: [folder] })).toEqual(["below"]);
});

test("findSkills() finds a tool whose manifest.json is broken, so that somebody hears of it", () => {
  const folder = createFolder({ "tool/manifest.json": '{ "name": "tool", "tool_type": "script", ' });

  expect(found(folder, { directories: [folder] })).toEqual(["tool"]);
});

test("findSkills() takes a folder or a pipe of a marker's name for none", () => {
  const folder = createFolder({ "a/manifest.json/x": "", "b/skill.ts/SKILL.md": "" });
  execFileSync("mkfifo", [join(folder, "a/skill.js")]);

  expect(found(folder, { directories: [folder] })).toEqual(["b/skill.ts"]);
});

test.for([
  ["somewhere below it", "home/work/app"],
  ["in it", "home"],
  ["through a link", "link/work/app"],
] as const)("findSkills() finds the user's skills as theirs if the home directory is a repository: %s", ([, work]) => {
  const folder = createFolder({
    "home/.git/HEAD": "",
    "home/.claude/skills/mine/SKILL.md": "",
    "home/work/app/x": "",
    "home/work/.agents/skills/team/SKILL.md": "",
  });
  symlinkSync("home", join(folder, "link"));

  const { locations } = findSkills({
    workingDirectory: join(folder, work),
    homeDirectory: join(folder, "home"),
  });

  const mine = locations.filter((one) => one.path.endsWith("/mine"));
  expect(mine.map((one) => one.scope)).toEqual(["user"]);
  expect(locations.filter((one) => one.scope === "project").every((one) => one.path.endsWith("/team"))).toBe(true);
});

test("findSkills() finds the user's skills as theirs if a repository is above the home directory", () => {
  const folder = createFolder({ ".git/HEAD": "", "home/.claude/skills/mine/SKILL.md": "", "home/work/x": "" });

  const { locations } = findSkills({
    workingDirectory: join(folder, "home/work"),
    homeDirectory: join(folder, "home"),
  });

  expect(locations.map((one) => one.scope)).toEqual(["user"]);
});

test("findSkills() finds the skills of a plugin and names it", () => {
  const folder = createFolder({
    "tools/.claude-plugin/plugin.json": "{}",
    "tools/skills/one/SKILL.md": "",
    "tools/skills/two/SKILL.md": "",
    "single/.claude-plugin/plugin.json": "{}",
    "single/SKILL.md": "",
  });

  const { locations } = findSkills({ directories: [folder] });

  expect(locations.map((one) => [one.plugin, relative(folder, one.path)])).toEqual([
    ["single", "single"],
    ["tools", "tools/skills/one"],
    ["tools", "tools/skills/two"],
  ]);
});

test("findSkills() says that a named folder is not there, and goes on", () => {
  const folder = createFolder({ "one/SKILL.md": "", "file.txt": "" });

  const result = findSkills({ directories: [join(folder, "nothing"), join(folder, "file.txt"), folder] });

  expect(result.locations).toHaveLength(1);
  expect(result.diagnostics.map((one) => [one.severity, one.code])).toEqual([
    ["error", "folder-missing"],
    ["error", "folder-missing"],
  ]);
});

test("findSkills() does not look into packages and repositories", () => {
  const folder = createFolder({ "node_modules/x/SKILL.md": "", ".git/x/SKILL.md": "", "a/b/SKILL.md": "" });

  expect(found(folder, { directories: [folder] })).toEqual(["a/b"]);
});

test("findSkills() finds skills in hidden folders, however deep", () => {
  const folder = createFolder({ "skills/.curated/pdf/SKILL.md": "", "repository/.claude/skills/mine/SKILL.md": "" });

  expect(found(folder, { directories: [folder] })).toEqual(["repository/.claude/skills/mine", "skills/.curated/pdf"]);
});

test("findSkills() finds a skill where it is, rather than where a link to it is", () => {
  const folder = createFolder({ "z/pdf/SKILL.md": "", "outside/csv/SKILL.md": "", "a/x": "" });
  symlinkSync("../z", join(folder, "a/linked"));

  expect(found(folder, { directories: [join(folder, "a"), folder] })).toEqual(["a/linked/pdf", "outside/csv"]);
  expect(found(folder, { directories: [folder] })).toEqual(["outside/csv", "z/pdf"]);
});

test("findSkills() ends in a tree that is too deep", () => {
  const folder = createFolder({ [`${"d/".repeat(40)}SKILL.md`]: "" });

  expect(found(folder, { directories: [folder] })).toEqual([]);
});

test("findSkills() never throws for what it is given or what is on the disk", () => {
  const folder = createFolder({ "ok/SKILL.md": "", "odd\nname\u202E/SKILL.md": "", "file.txt": "" });
  symlinkSync("self", join(folder, "self"));
  symlinkSync("nowhere", join(folder, "broken"));
  const bad = ["self", "broken", "file.txt/below", "nul\0byte", "x".repeat(5000), "file.txt/SKILL.md"];

  const result = findSkills({ directories: [...bad.map((name) => join(folder, name)), folder, ""] });

  expect(result.locations.map((one) => relative(folder, one.path))).toEqual(["odd\nname\u202E", "ok"]);
  expect(result.diagnostics.every((one) => one.code === "folder-missing" && !one.message.includes("\n"))).toBe(true);
});

test("findSkills() takes a folder of the name SKILL.md for a folder", () => {
  const folder = createFolder({ "a/SKILL.md/b/SKILL.md": "" });

  expect(found(folder, { directories: [folder] })).toEqual(["a/SKILL.md/b"]);
});

test("skillRoots() lists what findSkills() looks into, whether it is there or not", () => {
  const folder = createFolder({ "repo/.git/HEAD": "", "repo/app/x": "" });

  const roots = skillRoots({
    directories: [join(folder, "given")],
    workingDirectory: join(folder, "repo/app"),
    homeDirectory: join(folder, "home"),
  });

  expect(roots.map((root) => relative(folder, root))).toEqual([
    "given",
    ...["repo/app", "repo", "home"].flatMap((place) =>
      [".kitbag/skills", ".agents/skills", ".claude/skills"].map((name) => `${place}/${name}`),
    ),
  ]);
});

function found(root: string, options: Parameters<typeof findSkills>[0]): string[] {
  return findSkills(options).locations.map((one) => relative(root, one.path));
}
