import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import { createAgent } from "../create-agent.ts";
import { foldJournal } from "../log/fold-journal.ts";
import { agentTool } from "../sub-agents/agent-tool.ts";
import { shownToolsOf, tryCall } from "./try-call.ts";

test("shownToolsOf() names the tools that the model saw at each step, before and behind an opened skill", async () => {
  const { agent, store } = setUp();
  await agent.run("Go", { id: "a" });

  const { answers } = foldJournal("a", await createRuns({ store }).read("a"));
  const shown = shownToolsOf(answers);

  expect(shown.get(1)).toContain("activate_skill");
  expect(shown.get(1)).not.toContain("csv__sum");
  expect(shown.get(2)).toContain("csv__sum");
});

test("tryCall() makes any call of a recorded run again: one that opens a skill, one of that skill, with another input", async () => {
  const { agent } = setUp();
  await agent.run("Go", { id: "a" });

  const opened = await tryCall(agent, { run: "a", call: "1.0" });
  const same = await tryCall(agent, { run: "a", call: "2.0" });
  const other = await tryCall(agent, { run: "a", call: "2.0", input: { numbers: [4, 5] } });

  expect(opened.status).toBe("ok");
  expect(same).toEqual({ status: "ok", output: 3 });
  expect(other).toEqual({ status: "ok", output: 9 });
});

test("tryCall() makes a call of a sub-agent's run again with the tools of that agent", async () => {
  const { agent: helper } = setUp();
  const agent = createAgent({
    model: mockModel([{ calls: [{ tool: "helper", input: { task: "Go" } }] }, "Done"]),
    workspace: createWorkspace({ tools: [agentTool(helper, { name: "helper", description: "Helps" })] }),
    store: memoryStore(),
  });
  await agent.run("Go", { id: "top" });

  expect(await tryCall(agent, { run: "top~1.0", call: "2.0", input: { numbers: [1] } })).toEqual({
    status: "ok",
    output: 1,
  });
});

test("tryCall() refuses a call that the run does not ask for", async () => {
  const { agent } = setUp();
  await agent.run("Go", { id: "a" });

  for (const call of ["1.7", "9.0", "", "x"]) {
    await expect(tryCall(agent, { run: "a", call })).rejects.toMatchObject({ code: "call-missing" });
  }
});

function setUp(): { readonly agent: Agent; readonly store: ReturnType<typeof memoryStore> } {
  const store = memoryStore();
  const sum = defineTool({
    name: "sum",
    description: "Adds",
    input: { type: "object", properties: { numbers: { type: "array", items: { type: "number" } } } },
    run: ({ numbers = [] }) => (numbers as readonly number[]).reduce((all, one) => all + one, 0),
  });
  const csv = defineSkill({ name: "csv", description: "Tables", workDirection: "Add.", tools: [sum] });
  const model = mockModel([
    { calls: [{ tool: "activate_skill", input: { name: "csv" } }] },
    { calls: [{ tool: "csv__sum", input: { numbers: [1, 2] } }] },
    "3",
  ]);
  return { agent: createAgent({ model, store, workspace: createWorkspace({ skills: [csv] }) }), store };
}
