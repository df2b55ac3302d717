import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createProject, runKitbag, type Project } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { argparseScript, skillFiles } from "../../../test/support/skill-files.ts";

test("kitbag freeze writes a manifest that means the same as the scripts", async (context) => {
  needProgram(context, "python3");
  const project = createSkill();
  const before = await show(project);

  const run = await runKitbag(["freeze", "skills/shortener"], { project });

  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toBe(`Wrote skills/shortener/scripts/manifest.yml with:
  shortener/shorten
What stands there now wins over what the scripts say; edit it, then run: kitbag check
`);
  expect(await show(project)).toEqual(before);
});

test("kitbag freeze lets an author change what was read", async (context) => {
  needProgram(context, "python3");
  const project = createSkill();
  await runKitbag(["freeze", "shortener", "--skills", "skills"], { project });
  const manifest = join(project.folder, "skills/shortener/scripts/manifest.yml");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace("default: 10", "default: 20"));

  const run = await runKitbag(["freeze", "skills/shortener", "--force", "--json"], { project });

  expect(JSON.parse(run.stdout)).toEqual({
    skill: "shortener",
    path: "skills/shortener/scripts/manifest.yml",
    tools: ["shortener/shorten"],
  });
  expect(readFileSync(manifest, "utf8")).toContain("default: 20");
});

test("kitbag freeze does not replace a manifest without --force", async (context) => {
  needProgram(context, "python3");
  const project = createSkill();
  const manifest = project.write(
    "skills/shortener/scripts/manifest.yml",
    "tools:\n  - script: shorten.py\n    name: cut\n",
  );

  const run = await runKitbag(["freeze", "skills/shortener"], { project });

  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toContain("it is already there; --force replaces it");
  expect(readFileSync(manifest, "utf8")).toContain("name: cut");
});

test("kitbag freeze never writes outside of the skill's folder", async (context) => {
  needProgram(context, "python3");
  const project = createSkill();
  const outside = project.write("outside.yml", "mine");
  symlinkSync(outside, join(project.folder, "skills/shortener/scripts/manifest.yml"));

  await runKitbag(["freeze", "skills/shortener", "--force"], { project });

  expect(readFileSync(outside, "utf8")).toBe("mine");
});

test("kitbag freeze does not follow a folder of scripts that is a link", async () => {
  const project = createSkill();
  const scripts = join(project.folder, "skills/shortener/scripts");
  rmSync(scripts, { recursive: true });
  mkdirSync(join(project.folder, "elsewhere"));
  project.write("elsewhere/shorten.py", argparseScript);
  symlinkSync(join(project.folder, "elsewhere"), scripts);

  const run = await runKitbag(["freeze", "skills/shortener"], { project });

  expect(run.code).toBe(2);
  expect(existsSync(join(project.folder, "elsewhere/manifest.yml"))).toBe(false);
});

test.for([
  [["freeze", "shortner", "--skills", "skills"], 1, 'Cannot find the skill "shortner": did you mean "shortener"?'],
  [["freeze", "skills/plain"], 2, 'Cannot freeze "plain": none of its scripts is a tool'],
  [["freeze", "skills/broken"], 2, 'Cannot freeze "broken": skipped, because the file is empty'],
  [["freeze", "skills"], 1, 'Cannot find the skill "skills"'],
  [["freeze", ""], 1, 'Cannot find the skill ""'],
  [["freeze"], 2, "missing required argument 'skill'"],
] as const)("kitbag %j fails with a message", async ([words, code, message]) => {
  const project = createSkill({ ...skillFiles("skills/plain"), "skills/broken/SKILL.md": "" });

  const run = await runKitbag(words, { project });

  expect(run).toMatchObject({ code, stdout: "" });
  expect(run.stderr).toContain(message);
});

test("kitbag freeze of a skill of the project says that it must be trusted again", async (context) => {
  needProgram(context, "python3");
  const project = createProject({
    ...skillFiles(".kitbag/skills/mine"),
    ".kitbag/skills/mine/scripts/shorten.py": argparseScript,
  });

  const run = await runKitbag(["freeze", "mine"], { project });

  expect(run.stdout).toContain("The skill has changed, so it must be trusted again: kitbag trust ");
});

function createSkill(others: Readonly<Record<string, string>> = {}): Project {
  return createProject({
    ...skillFiles("skills/shortener"),
    "skills/shortener/scripts/shorten.py": argparseScript,
    ...others,
  });
}

async function show(project: Project): Promise<unknown> {
  const run = await runKitbag(["show", "shortener/shorten", "--skills", "skills", "--json"], { project });
  return JSON.parse(run.stdout);
}
