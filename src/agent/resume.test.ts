import { expect, test } from "vitest";

import { defineSkill } from "../core/define-skill.ts";
import { defineTool } from "../core/define-tool.ts";
import type { Store } from "../core/store.ts";
import type { ModelCall } from "../models/model.ts";
import { memoryStore } from "../store/memory-store.ts";
import { createRuns } from "../records/runs/create-runs.ts";
import { mockModel, type MockAnswer } from "../testing/models/mock-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import type { Agent } from "./agent-interface.ts";
import type { AgentRun } from "./agent-run.ts";
import { createAgent } from "./create-agent.ts";
import type { ModelAnswered } from "./events.ts";
import type { AgentHooks, AnswerVerdict } from "./hooks.ts";
import type { ForkChanges } from "./log/fork-run.ts";

test("run() writes a journal that is the run", async () => {
  const { store, agent } = createWorld();

  const { run } = await agent.run("Count to 2").result;

  expect((await createRuns({ store }).read(run)).map(({ value }) => value.type)).toEqual([
    "lease-start",
    "task-start",
    "model-answer",
    "step-intent",
    "step-outcome",
    "model-answer",
    "step-intent",
    "step-outcome",
    "model-answer",
    "run-end",
  ]);
});

test("run() writes down what a call is made with before it is made, if that is not what the model gave", async () => {
  const { store, agent, made } = createWorld();
  const token = `ghp_${"a1B2".repeat(9)}`;
  const beforeCall: AgentHooks["beforeCall"] = ({ input }) =>
    (input as { to: number }).to === 1 ? { input: { to: 7 } } : { input: { token } };

  const { run } = await agent.run("Count to 2", { hooks: { beforeCall } }).result;

  const journal = (await createRuns({ store }).read(run)).map(({ value }) => value);
  const changed = journal.filter(({ type }) => type === "call-changed");
  expect(made).toEqual([7]);
  expect(changed).toMatchObject([{ step: 1, call: "1.0", tool: "count", input: { to: 7 } }, { call: "2.0" }]);
  expect(JSON.stringify(changed)).not.toContain(token);
  expect(journal.map(({ type }) => type).slice(2, 6)).toEqual([
    "model-answer",
    "step-intent",
    "call-changed",
    "step-outcome",
  ]);
  expect(await agent.replay(run)).toMatchObject({ status: "same" });
});

test("run() writes down what a call is made with at last, if a hook has it made again", async () => {
  const { store, agent, made } = createWorld();
  const inputs = [{ to: 7 }, { to: 1 }];
  const afterCall: AgentHooks["afterCall"] = () => {
    const again = inputs.shift();
    return again && { again };
  };

  const { run } = await agent.run("Count to 1", { hooks: { afterCall } }).result;

  const journal = await createRuns({ store }).read(run);
  expect(made).toEqual([1, 7, 1]);
  expect(journal.flatMap(({ value }) => (value.type === "call-changed" ? [value["input"]] : []))).toEqual([
    { to: 7 },
    { to: 1 },
  ]);
});

test("resume() writes down that a call is made with what the model gave, if the journal says otherwise", async () => {
  const { store, agent, made } = createWorld();
  const run = agent.run("Count to 1", {
    hooks: { beforeCall: () => ({ input: { to: 7 } }) },
    onEvent: ({ type }) => type === "call-changed" && run.stop(),
  });
  await run.result;

  const result = await agent.resume(run.id, { hooks: { beforeCall: () => undefined } }).result;

  const journal = await createRuns({ store }).read(run.id);
  expect(result.status).toBe("ok");
  expect(made).toEqual([1]);
  expect(journal.findLast(({ value }) => value.type === "call-changed")?.value["input"]).toEqual({ to: 1 });
});

test("fork() of a run that stopped at a limit has what was said while the last answer came", async () => {
  const { agent, model } = createWorld();
  const run: AgentRun = agent.run("Count to 0", {
    limits: { maxSteps: 1 },
    hooks: { afterModel: (): void => run.steer("Say it louder") },
  });
  const stopped = await run.result;

  const fork = await agent.fork(run.id, 1, {}, { limits: { maxSteps: 9 } }).result;

  expect(stopped).toMatchObject({ status: "stopped", reason: "steps", text: "Counted to 0" });
  expect(fork.status).toBe("ok");
  expect(JSON.stringify(model.asked.at(-1)?.prompt)).toContain("Say it louder");
  expect(await agent.replay(run.id)).toMatchObject({ status: "same" });
});

test("resume() goes on where a run was stopped, and makes no call again whose outcome is recorded", async () => {
  const world = createWorld();
  const run = world.agent.run("Count to 3", { onEvent: ({ type }) => type === "tool-end" && run.stop() });
  const stopped = await run.result;

  const result = await world.restarted().resume(run.id).result;

  expect(stopped).toMatchObject({ status: "stopped", reason: "cancelled", steps: 1 });
  expect(result).toMatchObject({ status: "ok", text: "Counted to 3", steps: 4 });
  expect(world.made).toEqual([1, 2, 3]);
});

test("resume() of a run that nobody knows is a failure that says so, and makes none", async () => {
  const { agent, store } = createWorld();

  const result = await agent.resume("no-such-run").result;

  expect(result).toMatchObject({ status: "failed", error: { code: "run-not-found" } });
  expect(await createRuns({ store }).list()).toEqual([]);
});

test("resume() of a run that has ended is a failure", async () => {
  const { agent } = createWorld();
  const { run } = await agent.run("Count to 1").result;

  expect(await agent.resume(run).result).toMatchObject({ status: "failed", error: { code: "run-ended" } });
});

test("run() refuses the id of a run that is there, and lets go of it", async () => {
  const { agent } = createWorld();
  const first = agent.run("Drop it", { id: "a" });
  await first.result;

  const again = await agent.run("Count to 1", { id: "a" }).result;

  expect(again).toMatchObject({ status: "failed", error: { code: "option-invalid", details: { option: "id" } } });
  expect(await agent.resume("a").result).toMatchObject({ status: "paused" });
});

test("resume() needs a store", async () => {
  const agent = createAgent({ model: mockModel(["Hello"]), workspace: createWorkspace() });

  expect(await agent.resume("a").result).toMatchObject({ status: "failed", error: { code: "option-invalid" } });
});

test("resume() counts answers that a hook did not want: they were paid for", async () => {
  const send = defineTool({ name: "send", description: "Sends", needsApproval: true, run: () => "sent" });
  const usage = { input: 100, output: 0 };
  const model = mockModel(
    [
      { text: "No", usage },
      { text: "No", usage },
      { calls: [{ tool: "send" }], usage },
      { text: "Sent", usage },
    ],
    { provider: "acme", modelId: "m" },
  );
  const prices = { "acme/m": { input: 10, output: 10 } };
  const workspace = createWorkspace({ tools: [send] });
  const agent = createAgent({ model, workspace, prices, store: memoryStore(), limits: { maxSteps: 4 } });
  const afterModel = ({ finishReason }: ModelAnswered): AnswerVerdict =>
    finishReason === "stop" ? "again" : undefined;
  const paused = await agent.run("Send it", { id: "a", hooks: { afterModel } }).result;
  await agent.decide("a:1.0", { decision: "approve" });

  const result = await agent.resume("a").result;
  const replayed = await agent.replay("a");

  expect(paused).toMatchObject({ status: "paused", usage: { modelCalls: 3, inputTokens: 300 } });
  expect(result).toMatchObject({ status: "ok", usage: { modelCalls: 4, inputTokens: 400 } });
  expect(result.cost).toBeCloseTo(0.004, 12);
  expect(agent.totalTokens).toBe(400);
  expect(replayed).toMatchObject({ status: "same", steps: 2 });
});

test("resume() opens the skills again that were open", async () => {
  const world = createWorld();
  const run = world.agent.run("Use the skill, then count to 1", {
    onEvent: ({ type }) => type === "tool-end" && run.stop(),
  });
  await run.result;

  const result = await world.restarted().resume(run.id).result;

  expect(result).toMatchObject({ status: "ok" });
  expect(JSON.stringify(result.messages)).toContain("from the skill");
});

test("a call that needs an approval pauses the run until somebody decides, in another process if need be", async () => {
  const world = createWorld();

  const paused = await world.agent.run("Drop it").result;
  const other = world.restarted();
  await other.decide(paused.approvals?.[0] ?? "", { decision: "approve" });
  const result = await other.resume(paused.run).result;

  expect(paused).toMatchObject({ status: "paused", approvals: [`${paused.run}:1.0`] });
  expect(result).toMatchObject({ status: "ok", text: "Dropped" });
  expect(world.made).toEqual(["drop"]);
});

test("a call that was denied is not made, and the model is told why", async () => {
  const world = createWorld();
  const { run, approvals = [] } = await world.agent.run("Drop it").result;

  await world.agent.decide(approvals[0] ?? "", { decision: "deny", reason: "too dear" });
  const result = await world.agent.resume(run).result;

  expect(result.status).toBe("ok");
  expect(JSON.stringify(result.messages)).toContain("too dear");
  expect(world.made).toEqual([]);
});

test("a run that is resumed before anybody decided waits on, and asks once", async () => {
  const world = createWorld();
  const { run } = await world.agent.run("Drop it").result;

  const again = await world.agent.resume(run).result;

  const types = (await createRuns({ store: world.store }).read(run)).map(({ value }) => value.type);
  expect(again).toMatchObject({ status: "paused", approvals: [`${run}:1.0`] });
  expect(types.filter((type) => type === "approval-asked")).toHaveLength(1);
  expect(types).not.toContain("step-intent");
});

test.for(["nothing", "a:1.0", "", ":", "no-such-run:1.0"])(
  "decide() refuses %j, which nothing waits for",
  async (approval) => {
    const { agent } = createWorld();

    await expect(agent.decide(approval, { decision: "approve" })).rejects.toMatchObject({
      code: expect.stringMatching(/^(option-invalid|run-not-found|store-key-invalid)$/u),
    });
  },
);

test.for([undefined, null, {}, { decision: "yes" }])("decide() refuses the decision %j", async (decision) => {
  const { agent } = createWorld();

  await expect(agent.decide("a:1.0", decision as never)).rejects.toThrow('expected "approve" or "deny"');
});

test("decide() is done about several calls of a run at the same time", async () => {
  const drop = defineTool({ name: "drop", description: "Drops", needsApproval: true, run: () => "dropped" });
  const model = mockModel([{ calls: [{ tool: "drop" }, { tool: "drop" }, { tool: "drop" }] }, "Done"]);
  const agent = createAgent({ model, store: memoryStore(), workspace: createWorkspace({ tools: [drop] }) });
  const { run, approvals = [] } = await agent.run("Drop them").result;

  await Promise.all(approvals.map((approval) => agent.decide(approval, { decision: "approve" })));

  expect(approvals).toHaveLength(3);
  expect(await agent.resume(run).result).toMatchObject({ status: "ok", text: "Done" });
});

test("decide() takes one decision", async () => {
  const { agent } = createWorld();
  const { approvals = [] } = await agent.run("Drop it").result;
  const [approval = ""] = approvals;

  await agent.decide(approval, { decision: "deny" });

  await expect(agent.decide(approval, { decision: "approve" })).rejects.toMatchObject({ code: "option-invalid" });
});

test("replay() of a run is the same, and asks neither the model nor a tool", async () => {
  const world = createWorld();
  const { run } = await world.agent.run("Count to 3").result;
  const asked = world.model.asked.length;
  const made = world.made.length;

  const report = await world.agent.replay(run);

  expect(report).toEqual({ run, status: "same", steps: 4 });
  expect([world.model.asked.length, world.made.length]).toEqual([asked, made]);
});

test("replay() tells where the model would be shown something else", async () => {
  const world = createWorld();
  const { run } = await world.agent.run("Count to 3").result;

  const report = await world.restarted({ instructions: "Be brief" }).replay(run);

  expect(report).toMatchObject({
    status: "diverged",
    divergence: { step: 1, what: "the model is shown another system text" },
  });
});

test("replay() says the same of runs with skills, steering and approvals", async () => {
  const world = createWorld();
  const skilled: AgentRun = world.agent.run("Use the skill, then count to 2", {
    onEvent: (event) => event.type === "tool-end" && event.step === 2 && skilled.steer("Go on"),
  });
  await skilled.result;
  const paused = await world.agent.run("Drop it").result;
  await world.agent.decide(paused.approvals?.[0] ?? "", { decision: "approve" });
  await world.agent.resume(paused.run).result;

  expect(await world.agent.replay(skilled.id)).toMatchObject({ status: "same" });
  expect(await world.agent.replay(paused.run)).toMatchObject({ status: "same" });
});

test("fork() goes on from the middle with something changed", async () => {
  const world = createWorld();
  const { run } = await world.agent.run("Count to 3").result;

  const fork = world.agent.fork(run, 2, { outcomes: { "2.0": { status: "ok", output: 20 } } });
  const result = await fork.result;

  expect(result).toMatchObject({ status: "ok" });
  expect(JSON.stringify(result.messages)).toContain('"value":20');
  expect(world.made).toEqual([1, 2, 3, 3]);
});

test.for<[what: string, changes: ForkChanges, shown: string]>([
  ["is said to have come of it", { outcomes: { "1.0": { status: "ok", output: "made up" } } }, "made up"],
  ["is said to the model instead", { say: "Leave it" }, "the run went another way before it was made"],
])("fork() of a run whose call waits goes on with what %s, and does not make it", async ([, changes, shown]) => {
  const { agent, made, model } = createWorld();
  const { run } = await agent.run("Drop it").result;

  const fork = agent.fork(run, 1, changes);

  await fork.result;
  const results = model.asked[1]?.prompt.filter(({ role }) => role === "tool");
  expect(JSON.stringify(results)).toContain(shown);
  expect(made).toEqual([]);
});

test("fork() of a run that was stopped before a call began does not say that it may have happened", async () => {
  const { agent, made, model } = createWorld();
  const beforeCall = (): undefined => {
    run.stop();
  };
  const run: AgentRun = agent.run("Count to 1", { hooks: { beforeCall } });
  await run.result;

  await agent.fork(run.id, 1, { say: "Leave it" }).result;

  expect(JSON.stringify(model.asked[1]?.prompt)).toContain("the run went another way before it was made");
  expect(made).toEqual([]);
});

test.for<[step: number, outcomes: Record<string, never>]>([
  [-1, {}],
  [9, {}],
  [1.5, {}],
  [1, { "2.0": { status: "ok" } as never }],
])("fork() refuses step %j with %j", async ([step, outcomes]) => {
  const { agent } = createWorld();
  const { run } = await agent.run("Count to 2").result;

  await expect(agent.fork(run, step, { outcomes })).rejects.toMatchObject({ code: "option-invalid" });
});

interface World {
  readonly store: Store;
  readonly agent: Agent;
  readonly model: ReturnType<typeof mockModel>;
  /** What the tools did, outside. */
  readonly made: unknown[];
  /** Another process with the same store. */
  restarted(options?: { readonly instructions?: string }): Agent;
}

/** A model that looks only at what it is shown, as one must be that goes on in another process. */
function createWorld(): World {
  const store = memoryStore();
  const made: unknown[] = [];
  const model = mockModel(answer);
  const restarted: World["restarted"] = (options = {}) =>
    createAgent({ model, store, workspace: createTestWorkspace(made), ...options });
  return { store, made, model, restarted, agent: restarted() };
}

function answer({ prompt }: ModelCall): MockAnswer {
  const text = JSON.stringify(prompt);
  const counted = prompt.filter(
    (message) => message.role === "tool" && JSON.stringify(message).includes('"count"'),
  ).length;
  if (text.includes("Use the skill") && !text.includes("activate_skill")) {
    return { calls: [{ tool: "activate_skill", input: { name: "extra" } }] };
  }
  if (text.includes("Use the skill") && !text.includes('"toolName":"extra__tell"'))
    return { calls: [{ tool: "extra__tell" }] };
  if (text.includes("Drop it")) return prompt.at(-1)?.role === "tool" ? "Dropped" : { calls: [{ tool: "drop" }] };
  const target = Number(/[Cc]ount to (\d)/u.exec(text)?.[1] ?? 0);
  if (counted < target) return { calls: [{ tool: "count", input: { to: counted + 1 } }] };
  return `Counted to ${target}`;
}

function createTestWorkspace(made: unknown[]): ReturnType<typeof createWorkspace> {
  const count = defineTool({
    name: "count",
    description: "Counts",
    input: { type: "object", properties: { to: { type: "number" } }, required: ["to"] },
    run({ to }) {
      made.push(to);
      return to ?? null;
    },
  });
  const drop = defineTool({
    name: "drop",
    description: "Drops it",
    needsApproval: true,
    run: () => void made.push("drop"),
  });
  const extra = defineSkill({
    name: "extra",
    description: "Tells more",
    workDirection: "Call extra/tell.",
    tools: [defineTool({ name: "tell", description: "Tells", run: () => "from the skill" })],
  });
  return createWorkspace({ tools: [count, drop], skills: [extra] });
}
