import { expect, test } from "vitest";

import { readAgents } from "./read-agents.ts";

test("readAgents() reads agents/*.md as plugins of Claude write them", () => {
  const { agents, diagnostics } = read({
    "agents/reviewer.md":
      "---\nname: reviewer\ndescription: Reviews changes. Use it after each change.\ntools: list-changes, show\nmodel: inherit\ncolor: blue\n---\n\nYou review changes.\n",
    "agents/helper.md": "---\ndescription: Helps\n---\nYou help.\n",
    "SKILL.md": "---\nname: git\ndescription: Git\n---\nText",
    "agents/notes.txt": "no agent",
    "agents/deep/other.md": "---\ndescription: Is too deep\n---\nText",
  });

  expect(agents).toEqual([
    {
      file: "agents/reviewer.md",
      name: "reviewer",
      description: "Reviews changes. Use it after each change.",
      instructions: "You review changes.",
      tools: ["list-changes", "show"],
      model: "inherit",
    },
    { file: "agents/helper.md", name: "helper", description: "Helps", instructions: "You help." },
  ]);
  expect(diagnostics).toEqual([]);
});

test.for([
  ["---\nname: a/b\ndescription: Has no name\n---\nText", "cannot be a name"],
  ["---\nname: x\n", ""],
  ["", ""],
  ["\u0000\u0001", ""],
  [`---\nname: ${"x".repeat(100)}\ndescription: d\n---\nText`, "cannot be a name"],
] as const)("readAgents() leaves out what cannot be an agent, and says so: %j", ([text, words]) => {
  const { agents, diagnostics } = read({ "agents/a.md": text });

  expect(agents.length === 0 || agents[0]?.name !== "").toBe(true);
  expect(diagnostics.every(({ severity }) => severity !== "error")).toBe(true);
  expect(diagnostics.map(({ message }) => message).join()).toContain(words);
});

test("readAgents() reads no more than 50 agents", () => {
  const many = Array.from({ length: 60 }, (_, index) => [`agents/a${index}.md`, "---\ndescription: d\n---\nText"]);

  const { agents, diagnostics } = read(Object.fromEntries(many) as Record<string, string>);

  expect(agents).toHaveLength(50);
  expect(diagnostics).toMatchObject([{ code: "agents-many", message: "Left out 10 agents: a skill has at most 50" }]);
});

function read(files: Readonly<Record<string, string>>): ReturnType<typeof readAgents> {
  const encoder = new TextEncoder();
  return readAgents({ contents: new Map(Object.entries(files).map(([path, text]) => [path, encoder.encode(text)])) });
}
