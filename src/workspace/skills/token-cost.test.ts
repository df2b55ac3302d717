import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Skill } from "../../core/skill.ts";
import { skillTokens, toolTokens } from "./render-skills.ts";

const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 4 });

test("toolTokens() counts more for a tool that says more", () => {
  const longer = { ...roll, description: "Rolls a die. Use it when somebody plays a game of chance, and only then." };

  const [short, long] = [roll, longer].map((tool) => toolTokens({ tool, wireName: "games__roll" }));

  expect(short).toBeGreaterThan(0);
  expect(long).toBeGreaterThan(Number(short));
});

test("skillTokens() counts what is always there, what comes when it is opened, and its tools", () => {
  const skill = defineSkill({
    name: "games",
    description: "Games of chance",
    tools: [roll],
    workDirection: "Roll once.",
  });
  const entry = { tool: roll, wireName: "games__roll" };

  const tokens = skillTokens(skill, [entry, entry]);

  expect(tokens.listed).toBeGreaterThan(0);
  expect(tokens.opened).toBeGreaterThan(0);
  expect(tokens.tools).toBe(2 * toolTokens(entry));
});

test("skillTokens() counts the place of a folder, and the text that its own code makes", () => {
  const plain: Skill = { ...defineSkill({ name: "games", description: "Games" }), instructions: "Roll." };
  const folder = { directory: "/somewhere/far/away/games" } as NonNullable<Skill["folder"]>;
  const other: Skill = { ...plain, folder, render: () => "Roll the die, and say what it shows." };

  const [one, more] = [plain, other].map((skill) => skillTokens(skill, []));

  expect(more?.listed).toBeGreaterThan(Number(one?.listed));
  expect(more?.opened).toBeGreaterThan(Number(one?.opened));
});
