import { expect, test } from "vitest";

import { skillCode } from "../../../test/support/skill-code.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { loadSkills } from "./load-skills.ts";
import type { SkillReport } from "./skill-report.ts";

test("toSkill() takes what SKILL.md and the manifest say before what the code says, and the rest from it", async () => {
  const { skill, diagnostics, tools } = await load({
    "SKILL.md": "---\nname: dice\ndescription: From the document\n---\n\nPlay with plugin:dice/roll.\n",
    "kitbag.toml": '[skill]\nrequires = ["base"]\n[permissions]\nread = ["."]\n',
    "skill.ts": code(`
      name: "other", description: "From the code", displayName: "Dice", version: "1.2.0", capabilities: ["chance"],
      workDirection: "Not read", requires: ["base", "more"], permissions: { network: ["*"] }, uses: ["else/tool"],
      exclusive: true, modelInvocable: false, onActivate() {}, onDeactivate() {}`),
  });

  expect(skill).toMatchObject({
    name: "dice",
    displayName: "Dice",
    description: "From the document",
    version: "1.2.0",
    capabilities: ["chance"],
    mentions: ["dice/roll"],
    requires: ["base", "more"],
    uses: [{ address: "else/tool" }],
    exclusive: true,
    modelInvocable: false,
    permissions: { read: ["."] },
    onActivate: expect.any(Function) as unknown,
    onDeactivate: expect.any(Function) as unknown,
  });
  expect(skill?.instructions.trim()).toBe("Play with plugin:dice/roll.");
  expect(tools.map(({ address, file }) => [address, file])).toEqual([["dice/roll", "skill.ts"]]);
  expect(diagnostics).toEqual([
    {
      severity: "warning",
      code: "code-overruled",
      message: 'Says the name "other", but SKILL.md says "dice" and goes before it',
      file: "skill.ts",
      cure: "write the same name in both",
    },
  ]);
});

test("toSkill() takes everything from the code where it is alone", async () => {
  const { skill, status } = await load({
    "skill.mjs": code(`
      name: "games", description: "Games", workDirection: "Roll with plugin:games/roll.", permissions: { env: ["SEED"] },
      reuses: [{ name: "say", uses: "voice/say@^1.0" }]`),
  });

  expect(status).toBe("ok");
  expect(skill).toMatchObject({
    name: "games",
    description: "Games",
    instructions: "Roll with plugin:games/roll.",
    mentions: ["games/roll"],
    permissions: { env: ["SEED"] },
    uses: [{ address: "voice/say", range: "^1.0" }],
    reuses: [{ name: "say" }],
    modelInvocable: true,
    exclusive: false,
    folder: { code: "skill.mjs" },
  });
});

test("toSkill() takes the instructions of the code if SKILL.md has none", async () => {
  const { skill } = await load({
    "SKILL.md": "---\nname: dice\ndescription: Dice\n---\n",
    "skill.ts": code('name: "dice", description: "Dice", workDirection: "Roll."'),
  });

  expect(skill?.instructions).toBe("Roll.");
});

test("toSkill() has one tool of each name: the manifest's, then the code's, then the script's", async () => {
  const { skill, tools, diagnostics } = await load({
    "kitbag.toml": '[skill]\ndescription = "Dice"\n[[tools]]\nname = "roll"\nkind = "script"\nfile = "roll.sh"\n',
    "roll.sh": "#!/bin/sh\necho 4\n",
    "scripts/cheat.sh": "#!/bin/sh\n# Usage: cheat.sh\necho 6\n",
    "skill.ts": code(
      'name: "dice", description: "Dice"',
      'defineTool({ name: "cheat", description: "From the code", run: () => 6 })',
    ),
  });

  expect(tools.map(({ name, file }) => [name, file])).toEqual([
    ["roll", "roll.sh"],
    ["cheat", "skill.ts"],
  ]);
  expect(skill?.tools.map(({ description }) => description)).toContain("From the code");
  expect(diagnostics.filter(({ code: what }) => what === "tool-duplicate").map(({ message }) => message)).toEqual([
    'Left out the tool "roll" of skill.ts: roll.sh already has one of this name',
    'Left out the tool "cheat" of scripts/cheat.sh: skill.ts already has one of this name',
  ]);
});

test("toSkill() takes over no tool of others under the name of one of its own", async () => {
  const { skill } = await load({
    "kitbag.toml": '[skill]\ndescription = "Dice"\n[[tools]]\nname = "say"\nkind = "reuse"\nuses = "voice/say"\n',
    "skill.ts": code('name: "dice", description: "Dice", reuses: [{ name: "say", uses: "other/say" }]'),
  });

  expect(skill?.reuses.map(({ name, uses }) => [name, uses.address])).toEqual([["say", "voice/say"]]);
});

test("toSkill() tells of another version in the code", async () => {
  const { skill, diagnostics } = await load({
    "kitbag.toml": '[skill]\nname = "dice"\ndescription = "Dice"\nversion = "2.0.0"\n',
    "skill.ts": code('name: "dice", description: "Dice", version: "1.0.0"'),
  });

  expect(skill?.version).toBe("2.0.0");
  expect(diagnostics.map(({ message }) => message)).toEqual([
    'Says the version "1.0.0", but kitbag.toml says "2.0.0" and goes before it',
  ]);
});

function code(parts: string, tool = ""): string {
  const roll = 'defineTool({ name: "roll", description: "Rolls a die", run: () => 4 })';
  const tools = [roll, tool].filter((text) => text !== "").join(", ");
  return skillCode(`export default defineSkill({ tools: [${tools}], ${parts} });`);
}

async function load(files: Readonly<Record<string, string>>): Promise<SkillReport> {
  const folder = createFolder(Object.fromEntries(Object.entries(files).map(([path, text]) => [`dice/${path}`, text])));
  const { reports } = await loadSkills({ directories: [folder] });
  return reports[0] as SkillReport;
}
