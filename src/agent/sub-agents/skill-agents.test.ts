import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Skill } from "../../core/skill.ts";
import { loadSkills } from "../../skills/load/load-skills.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { type MockCall, type MockModel, mockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Agent } from "../agent-interface.ts";
import { createAgent } from "../create-agent.ts";

type Calls = { readonly calls: readonly MockCall[] };

const call = (tool: string, input: MockCall["input"] = {}): Calls => ({ calls: [{ tool, input }] });
const review = call("git__reviewer", { task: "Review it" });

test("an agent of a skill is a tool of the skill while it is open, and lends its model from the caller", async () => {
  const { agent, model } = await setUp([
    call("activate_skill", { name: "git" }),
    review,
    call("git__log"),
    "Looks good",
    "Done",
  ]);

  const { text } = await agent.run("Go", { id: "top" });

  expect(text).toBe("Done");
  expect(model.shown(0).tools).not.toContain("git__reviewer");
  expect(model.shown(1).tools).toContain("git__reviewer");
  expect(model.asked[2]?.prompt.slice(0, 2)).toMatchObject([
    { role: "system", content: expect.stringContaining("You review changes.") as string },
    { role: "user", content: [{ text: "Review it" }] },
  ]);
  expect((await agent.replay("top")).status).toBe("same");
});

test("an agent of a skill is told its own file alone, and sees the tools that the file names", async () => {
  const { agent, model } = await setUp([review, "Looks good", "Done"]);

  await agent.run("Go", { skills: ["git"] });

  const system = String(model.asked[1]?.prompt[0]?.content);
  expect(system).toContain("You review changes.");
  expect(system).not.toContain("Work with git");
  expect(system).not.toContain("You are the boss");
  expect(model.shown(1).tools.filter((name) => name.includes("git"))).toEqual(["git__log"]);
});

test("an agent of a skill reaches nothing but its skill's tools: not those of the workspace, other skills, or of Kitbag itself", async () => {
  const script: MockScript = [
    review,
    {
      calls: ["git__push", "global-tool", "other__tool", "git__reviewer", "create_tool"].map((tool) => ({
        tool,
        input: {},
      })),
    },
    call("activate_skill", { name: "other" }),
    "I could not",
    "Done",
  ];
  const { agent, made, model } = await setUp(script);

  await agent.run("Go", { skills: ["git"] });

  expect(made).toEqual([]);
  expect(model.shown(3).conversation.match(/Cannot/gu)?.length).toBeGreaterThanOrEqual(6);
});

test("an agent of a skill may call what the skill declares in uses, if its file names it", async () => {
  const { agent, made } = await setUp([review, call("global-tool"), "Done", "Done"], {
    tools: "log, global-tool",
    uses: ["global-tool"],
  });

  await agent.run("Go", { skills: ["git"] });

  expect(made).toEqual(["global-tool"]);
});

test("an agent of a skill takes no more than its callers may: scopes hold", async () => {
  const world = await setUp([review, call("git__push"), "Done", "Done"], { tools: "log, push" });
  const agent = createAgent({
    model: world.model,
    workspace: world.workspace,
    scopesOf: () => new Set(["tools:read", "tools:of:git:reviewer"]),
  });

  await agent.run("Go", { skills: ["git"], user: "ann" });

  expect(world.made).toEqual([]);
  expect(world.model.shown().conversation + world.model.shown(2).conversation).toContain("scopes");
});

test("an agent of a skill is not there for callers that are no agents", async () => {
  const { workspace } = await setUp(["x"]);
  await workspace.activateSkill("git");

  const listed = workspace.getAvailableTools().map(({ address }) => address);
  const outcome = await workspace.call("git/reviewer", { task: "Go" });

  expect(listed).toContain("git/log");
  expect(listed).not.toContain("git/reviewer");
  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-unavailable" } });
});

test("the model that an agent's file names is asked only if the caller's provider has it", async () => {
  const { agent, model } = await setUp([review, "Looks good", "Done"], {
    model: "openai-compatible:http://evil.example/v1/x",
  });

  const { text } = await agent.run("Go", { skills: ["git"] });

  expect(text).toBe("Done");
  expect(model.asked).toHaveLength(3);
});

interface World {
  readonly agent: Agent;
  readonly model: MockModel;
  readonly workspace: Workspace;
  readonly made: string[];
}

interface Extras {
  readonly tools?: string;
  readonly model?: string;
  readonly uses?: readonly string[];
}

/** An agent on a skill with the tools log and push, and an agent that reviews. */
async function setUp(
  script: MockScript,
  { tools = "log", model: wished = "inherit", uses = [] }: Extras = {},
): Promise<World> {
  const made: string[] = [];
  const define = (name: string) =>
    defineTool({
      name,
      description: name,
      annotations: { readOnly: name === "log" },
      run: () => void (name === "log" || made.push(name)),
    });
  const folder = createFolder({
    "git/SKILL.md": "---\nname: git\ndescription: Git\n---\nWork with git\n",
    "git/agents/reviewer.md": `---\nname: reviewer\ndescription: Reviews\ntools: ${tools}\nmodel: ${wished}\n---\nYou review changes.\n`,
  });
  const { reports } = await loadSkills({ directories: [folder] });
  const [loaded] = reports.flatMap(({ skill }) => (skill === undefined ? [] : [skill]));
  const git: Skill = {
    ...(loaded as Skill),
    tools: [...(loaded as Skill).tools, define("log"), define("push")],
    uses: uses.map((address) => ({ address })),
  };
  const other: Skill = { ...git, name: "other", tools: [define("tool")], uses: [], mentions: [] };
  const workspace = createWorkspace({ tools: [define("global-tool")], skills: [git, other] });
  const model = mockModel(script);
  const agent = createAgent({ model, workspace, store: memoryStore(), instructions: "You are the boss" });
  return { agent, model, workspace, made };
}
