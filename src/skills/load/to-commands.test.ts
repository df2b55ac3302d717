import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { Skill } from "../../core/skill.ts";
import { loadSkills } from "./load-skills.ts";

test("createCommands() gives a program with its words, as a tool with the rights of the skill", async () => {
  const skill = await load("!`git log -n $0`", ["git"]);

  expect(skill.commands?.("5")).toEqual([
    {
      ok: true,
      input: { argv: ["log", "-n", "5"] },
      tool: expect.objectContaining({
        name: "!git",
        permissions: { run: ["git"] },
        limits: { limitMs: 10_000 },
        code: expect.objectContaining({ kind: "script", path: "", interpreter: ["git"], needsSandbox: true }),
      }),
    },
  ]);
});

test("createCommands() gives the same tool for the same program", async () => {
  const skill = await load("!`git log` !`git diff` !`./scripts/x.sh` !`scripts/x.sh a`", ["git", "./scripts/x.sh"]);

  const tools = [...(skill.commands?.("") ?? []), ...(skill.commands?.("a") ?? [])].map((one) => one.ok && one.tool);

  expect(tools.map((tool) => tool && tool.name)).toEqual([
    "!git",
    "!git",
    "!./scripts/x.sh",
    "!./scripts/x.sh",
    "!git",
    "!git",
    "!./scripts/x.sh",
    "!./scripts/x.sh",
  ]);
  expect(new Set(tools).size).toBe(2);
});

test.for([
  ["git status", "git", true],
  ["git status", "*", true],
  ["/usr/bin/git status", "/usr/bin/git", true],
  ["./scripts/x.sh", "*", true],
  ["./scripts/x.sh", "./scripts/x.sh", true],
  ["scripts/x.sh", "./scripts/x.sh", true],
  ["./scripts/x.sh", "scripts/x.sh", true],
  ["./scripts/../scripts//x.sh", "scripts/x.sh", true],
  ["{baseDir}/scripts/x.sh", "./scripts/x.sh", true],
  ["git status", "/usr/bin/git", false],
  ["/usr/bin/git status", "git", false],
  ["git status", "gi", false],
  ["git status", "git*", false],
  ["git status", "GIT", false],
  ["./git status", "git", false],
  ["./scripts/x.sh", "./scripts/*", false],
  ["./scripts/x.sh", "./scripts", false],
  ["/scripts/x.sh", "./scripts/x.sh", false],
  ["../scripts/x.sh", "./scripts/x.sh", false],
  ["constructor", "__proto__", false],
] as const)("createCommands() reads %j with the grant %j: %j", async ([command, granted, isGranted]) => {
  const skill = await load(`!\`${command}\``, [granted]);

  expect(skill.commands?.("").map(({ ok }) => ok)).toEqual([isGranted]);
});

test("createCommands() gives nothing for a text without commands", async () => {
  const skill = await load("Write `` !`id` `` to have it run!", ["id"]);

  expect(skill.commands?.("")).toEqual([]);
});

test("createCommands() reads a bounded number of commands in bounded time", async () => {
  const skill = await load("!`git $ARGUMENTS` ".repeat(20_000), ["git"]);
  const started = performance.now();

  const commands = skill.commands?.("x".repeat(100_000)) ?? [];

  expect(commands.filter(({ ok }) => ok)).toHaveLength(10);
  expect(commands).toHaveLength(20_000);
  expect(performance.now() - started).toBeLessThan(30_000);
});

async function load(body: string, run: readonly string[]): Promise<Skill> {
  const folder = createFolder({
    "x/SKILL.md": `---\nname: x\ndescription: y\n---\n${body}\n`,
    "x/kitbag.toml": `[permissions]\nrun = ${JSON.stringify(run)}\n`,
    "x/scripts/x.sh": "#!/bin/sh\necho x\n",
  });
  const { reports } = await loadSkills({ directories: [folder] });
  const skill = reports[0]?.skill;
  if (skill === undefined) throw new Error("The fixture cannot be read");
  return skill;
}
