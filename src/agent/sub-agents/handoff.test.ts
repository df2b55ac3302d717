import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel, type MockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentOptions } from "../agent-options.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";
import { agentTool, handoff } from "./agent-tool.ts";

const call = (tool: string) => ({ calls: [{ tool, input: {} }] });

test("handoff() gives the conversation to another agent, which goes on with all messages; the user sees one run", async () => {
  const { front, billing, frontModel, billingModel } = setUp([call("to-billing")], [call("pay"), "It is paid"]);

  const run = front.run("Pay my bill", { id: "talk" });
  const types: string[] = [];
  for await (const { type } of run) types.push(type);
  const result = await run.result;

  expect(result).toMatchObject({ status: "ok", text: "It is paid", steps: 3 });
  expect(types.filter((type) => type === "task-start" || type === "task-end" || type === "agent-changed")).toEqual([
    "task-start",
    "agent-changed",
    "task-end",
  ]);
  expect(frontModel.asked).toHaveLength(1);
  expect(billingModel.asked[0]?.prompt).toMatchObject([
    { role: "system", content: "You do bills." },
    { role: "user", content: [{ text: "Pay my bill" }] },
    { role: "assistant" },
    { role: "tool", content: [{ output: { value: { handedTo: "to-billing" } } }] },
  ]);
  expect(billingModel.asked[0]?.tools?.map(({ name }) => name)).toEqual(["pay", "drop"]);
  expect(billing.totalTokens).toBe(0);
});

test("a run that was handed over is one journal: it is replayed, resumed by the agent that has the conversation, and forked", async () => {
  const store = memoryStore();
  const { front, made } = setUp([call("to-billing")], [call("pay"), "It is paid", "It is paid again"], { store });
  const run: AgentRun = front.run("Pay", {
    id: "talk",
    onEvent: ({ type }) => type === "tool-end" && made.length > 0 && run.stop(),
  });
  const stopped = await run.result;

  const result = await front.resume("talk").result;
  const fork = await front.fork("talk", 2).result;

  expect(stopped.status).toBe("stopped");
  expect(result).toMatchObject({ status: "ok", text: "It is paid" });
  expect(fork).toMatchObject({ status: "ok", text: "It is paid again" });
  expect(made).toEqual(["pay"]);
  expect((await createRuns({ store }).list()).map(({ id }) => id)).toContain("talk");
  expect(await front.replay("talk")).toMatchObject({ status: "same", steps: 3 });
});

test("an approval of the agent that has the conversation pauses the run, and is decided as any other", async () => {
  const { front, made } = setUp([call("to-billing")], [call("drop"), "Dropped"], { store: memoryStore() });

  const paused = await front.run("Drop it", { id: "talk" }).result;
  await front.decide("talk:2.0", { decision: "approve" });
  const result = await front.resume("talk").result;

  expect(paused).toMatchObject({ status: "paused", approvals: ["talk:2.0"] });
  expect(result.status).toBe("ok");
  expect(made).toEqual(["drop"]);
});

test("a conversation goes from agent to agent and back, within the limits of the run", async () => {
  const [one, two] = [createWorkspace(), createWorkspace()];
  const model = mockModel(({ tools = [] }) => call(tools[0]?.name ?? ""));
  const first: Agent = createAgent({ model, workspace: one, limits: { maxSteps: 5 }, store: memoryStore() });
  const second: Agent = createAgent({ model, workspace: two, limits: { maxSteps: 100 } });
  one.add(handoff(() => second, { name: "to-second" }));
  two.add(handoff(() => first, { name: "to-first" }));

  const result = await first.run("Go", { id: "talk" }).result;

  expect(result).toMatchObject({ status: "stopped", steps: 5 });
  expect(["steps", "loop"]).toContain(result.reason);
  expect((await first.replay("talk")).status).toBe("same");
});

test("of two handoffs in one answer the first counts, and the model is told so of the second", async () => {
  const billingModel = mockModel(["Hello"]);
  const { front } = setUp([{ calls: [{ tool: "to-billing" }, { tool: "to-billing" }] }], billingModel);

  await front.run("Go");

  expect(billingModel.shown().conversation).toContain("to-billing has the conversation already");
});

test("a handoff to an agent that cannot be asked is a failed call, and the run goes on as it was", async () => {
  const model = mockModel([call("to-nowhere"), "I go on"], { provider: "acme", modelId: "m" });
  const nowhere = createAgent({
    model: mockModel(["x"], { provider: "unknown", modelId: "m" }),
    workspace: createWorkspace(),
  });
  const workspace = createWorkspace({ tools: [handoff(() => nowhere, { name: "to-nowhere" })] });
  const agent = createAgent({
    model,
    workspace,
    prices: { "acme/m": { input: 1, output: 1 } },
    limits: { maxCost: 1 },
  });

  const { text } = await agent.run("Go");

  expect(text).toBe("I go on");
  expect(model.shown().conversation).toContain("price");
});

test("a handoff is there only for agents, and not for tools that an agent calls", async () => {
  const { workspace } = setUp(["x"], ["x"]);
  const wrap = defineTool({
    name: "wrap",
    description: "Calls the handoff",
    run: async (_input, { call: callTool }) => {
      const outcome = await callTool("to-billing", {});
      return outcome.status === "failed" ? outcome.error.message : "handed over";
    },
  });
  workspace.add(wrap);
  const model = mockModel([call("wrap"), "Done"]);

  await createAgent({ model, workspace }).run("Go");

  expect(workspace.isToolAvailable("to-billing")).toBe(false);
  expect((await workspace.call("to-billing", {})).status).toBe("failed");
  expect(model.shown().conversation).toContain("only an agent itself");
});

test("guards of the agent that had the conversation go on to see the calls of the next one", async () => {
  const { front, made, billingModel } = setUp([call("to-billing")], [call("pay"), "Then not"], {
    guards: [
      { name: "no-pay", at: ["tool-input"], check: ({ tool }) => (tool === "pay" ? { refuse: "never" } : undefined) },
    ],
  });

  await front.run("Pay");

  expect(made).toEqual([]);
  expect(billingModel.shown().conversation).toContain("never");
});

test("a sub-agent can hand its conversation over, and its answer is that of the agent that goes on", async () => {
  const store = memoryStore();
  const billing = createAgent({ model: mockModel(["It is paid"]), workspace: createWorkspace() });
  const front = createAgent({
    model: mockModel([call("to-billing")]),
    workspace: createWorkspace({ tools: [handoff(billing, { name: "to-billing" })] }),
  });
  const model = mockModel([{ calls: [{ tool: "front", input: { task: "Pay" } }] }, "Done"]);
  const agent = createAgent({
    model,
    workspace: createWorkspace({ tools: [agentTool(front, { name: "front", description: "Answers" })] }),
    store,
  });

  await agent.run("Go", { id: "top" });

  expect(model.shown().conversation).toContain("It is paid");
  expect((await agent.replay("top")).status).toBe("same");
});

interface World {
  readonly front: Agent;
  readonly billing: Agent;
  readonly frontModel: MockModel;
  readonly billingModel: MockModel;
  readonly workspace: ReturnType<typeof createWorkspace>;
  readonly made: string[];
}

function setUp(script: MockScript, next: MockScript | MockModel, options: Partial<AgentOptions> = {}): World {
  const made: string[] = [];
  const define = (name: string, needsApproval: boolean) =>
    defineTool({ name, description: name, needsApproval, run: () => void made.push(name) });
  const billingModel = typeof next === "object" && "asked" in next ? next : mockModel(next);
  const billing = createAgent({
    model: billingModel,
    workspace: createWorkspace({ tools: [define("pay", false), define("drop", true)] }),
    instructions: "You do bills.",
  });
  const frontModel = mockModel(script);
  const workspace = createWorkspace({ tools: [handoff(billing, { name: "to-billing", description: "Does bills" })] });
  return {
    front: createAgent({ model: frontModel, workspace, ...options }),
    billing,
    frontModel,
    billingModel,
    workspace,
    made,
  };
}
