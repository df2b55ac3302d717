import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import type { ModelCall } from "../../models/model.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { mockModel, type MockAnswer } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentOptions, RunOptions } from "../agent-options.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";
import type { RunResult } from "../run-result.ts";

const exposures: readonly [exposure: "direct" | "announce" | "dispatch", provider: string][] = [
  ["direct", "kitbag.mock"],
  ["announce", "openai.mock"],
  ["announce", "anthropic.mock"],
  ["dispatch", "openai.mock"],
];

test.for(exposures)(
  "resume() shows the model what it would have seen, wherever the run broke off (%s, %s)",
  async (how) => {
    const whole = createWorld(how);
    const result = await whole.agent.run("Work", { id: "a", output: shape }).result;
    const journal = await createRuns({ store: whole.store }).read("a");
    const types = journal.map(({ value }) => value.type);

    const different: string[] = [];
    for (let length = types.indexOf("task-start") + 1; length < journal.length; length++) {
      const answered = types.slice(0, length).filter((type) => type === "model-answer").length;
      const world = createWorld(how, { answered });
      await world.store.log.append(
        "run:a",
        journal.slice(0, length).map(({ value }) => value),
      );
      const resumed = await world.agent.resume("a").result;
      const place = `${types[length - 1]} (${length})`;
      if (JSON.stringify(toSeen(world.asked)) !== JSON.stringify(toSeen(whole.asked.slice(answered))))
        different.push(place);
      expect(toFacts(resumed), place).toEqual(toFacts(result));
    }

    expect(result).toMatchObject({
      status: "ok",
      output: { sum: 3 },
      steps: 8,
      usage: { modelCalls: 8, toolCalls: 6 },
    });
    expect(different).toEqual([]);
  },
);

test("resume() counts what was used before, and the agent counts it once", async () => {
  const { agent } = createWorld(["direct", "kitbag.mock"]);
  const run = agent.run("Work", { onEvent: (event) => event.type === "tool-end" && event.step === 2 && run.stop() });
  await run.result;

  const { usage } = await agent.resume(run.id).result;

  expect(usage).toMatchObject({ modelCalls: 6, toolCalls: 6 });
  expect(agent.totalTokens).toBe(usage.inputTokens + usage.outputTokens);
});

test("resume() holds a run to the limits that it was given", async () => {
  const { agent } = createWorld(["direct", "kitbag.mock"]);
  const run = agent.run("Work", {
    limits: { maxSteps: 3 },
    onEvent: (event) => event.type === "tool-end" && run.stop(),
  });
  await run.result;

  expect(await agent.resume(run.id).result).toMatchObject({ status: "stopped", reason: "steps", steps: 3 });
});

test("resume() counts the time that somebody worked on a run, and not the time that it waited", async () => {
  const store = memoryStore({ now: () => now });
  let now = 1000;
  const slow = defineTool({ name: "slow", description: "Is slow", run: () => void (now += 60_000) });
  const model = mockModel([{ calls: [{ tool: "slow" }] }, "Done"]);
  const agent = createAgent({ model, store, workspace: createWorkspace({ tools: [slow] }) });
  const run = agent.run("Go", { onEvent: (event) => event.type === "tool-end" && run.stop() });
  await run.result;
  now += 86_400_000;

  const short = await agent.resume(run.id, { limits: { maxMs: 59_000 } }).result;

  expect(short).toMatchObject({ status: "stopped", reason: "time", steps: 1 });
});

test("resume() remembers the circle that a model goes in", async () => {
  const look = defineTool({
    name: "look",
    description: "Looks",
    annotations: { readOnly: true },
    run: () => "nothing",
  });
  const store = memoryStore();
  const model = mockModel(() => ({ calls: [{ tool: "look" }] }));
  const agent = createAgent({ model, store, workspace: createWorkspace({ tools: [look] }) });
  let run: AgentRun = agent.run(
    "Look",
    stopAfterCall(() => run),
  );
  let result = await run.result;
  for (let times = 1; times < 10 && result.reason === "cancelled"; times++) {
    run = agent.resume(
      run.id,
      stopAfterCall(() => run),
    );
    result = await run.result;
  }

  expect(result).toMatchObject({ status: "stopped", reason: "loop", steps: 6 });
  expect(await agent.replay(run.id)).toMatchObject({ status: "same", steps: 6 });
});

test("resume() asks the model that was asked for by name for this run", async () => {
  const store = memoryStore();
  const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 4 });
  const agent = createAgent({ model: mockModel([]), store, workspace: createWorkspace({ tools: [roll] }) });
  const run = agent.run("Roll a die", {
    model: "local",
    onEvent: (event) => event.type === "tool-end" && run.stop(),
  });
  await run.result;

  expect(await agent.resume(run.id).result).toMatchObject({ status: "ok", text: expect.stringContaining("4") });
});

test("resume() tells the model that a call in flight may have happened, and speaks of nothing that only programs have", async () => {
  const pay = defineTool({ name: "pay", description: "Pays", run: () => "paid" });
  const workspace = createWorkspace({ tools: [pay] });
  const script = [{ calls: [{ tool: "pay" }] }, "Done"];
  const [whole, broken] = [memoryStore(), memoryStore()];
  await createAgent({ model: mockModel(script), workspace, store: whole }).run("Pay", { id: "a" }).result;
  const journal = (await createRuns({ store: whole }).read("a")).map(({ value }) => value);
  const intent = journal.findIndex(({ type }) => type === "step-intent");
  await broken.log.append("run:a", journal.slice(0, intent + 1));

  const { messages } = await createAgent({ model: mockModel(["Done"]), workspace, store: broken }).resume("a").result;

  expect(messages[2]).toMatchObject({ role: "tool", content: [{ output: { type: "error-text" } }] });
  expect(JSON.stringify(messages[2]?.content)).toContain(
    String.raw`Cannot tell whether \"pay\" was done: it was running when its process died, and may have happened or not; find out before you call it again`,
  );
});

test("resume() of a fork asks the model that the fork was given", async () => {
  const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 4 });
  const workspace = createWorkspace({ tools: [roll] });
  const agent = createAgent({ model: mockModel(["Done"]), store: memoryStore(), workspace });
  const { run } = await agent.run("Roll a die").result;
  const fork: AgentRun = agent.fork(run, 0, {}, { model: "local", ...stopAfterCall(() => fork) });
  await fork.result;

  expect(await agent.resume(fork.id).result).toMatchObject({ status: "ok", text: expect.stringContaining("4") });
});

test("resume() writes nothing and says what is missing when a call that waits has no tool any more, and goes on when it is there", async () => {
  const store = memoryStore();
  const send = defineTool({ name: "send", description: "Sends", needsApproval: true, run: () => "sent" });
  const model = mockModel([{ calls: [{ tool: "send" }] }, "Done"]);
  const agentWith = (tools: readonly Tool[]): Agent =>
    createAgent({ model, store, workspace: createWorkspace({ tools }) });
  const { run } = await agentWith([send]).run("Go", { id: "a" }).result;
  await agentWith([]).decide("a:1.0", { decision: "approve" });

  const refused = await agentWith([]).resume(run).result;
  const resumed = await agentWith([send]).resume(run).result;

  expect(refused).toMatchObject({
    status: "failed",
    error: { code: "run-incomplete", details: { missing: "the tool send" } },
  });
  expect(refused.error?.message).toMatchInlineSnapshot(
    `"Cannot continue the run "a" without the tool send: the model has called it, and there is no such tool now; give it the tools and skills that it was started with"`,
  );
  expect(resumed).toMatchObject({ status: "ok", text: "Done" });
  expect(JSON.stringify(resumed.messages)).toContain("sent");
});

test("resume() goes on with a call of what was never a tool, and not with one of a tool that the model was shown", async () => {
  const look = defineTool({ name: "look", description: "Looks", annotations: { readOnly: true }, run: () => "seen" });
  const outcomes: unknown[] = [];
  for (const tool of ["look", "invented"]) {
    const store = memoryStore();
    const model = mockModel([{ calls: [{ tool }] }, "Done"]);
    const run = createAgent({ model, store, workspace: createWorkspace({ tools: [look] }) }).run("Go", {
      onEvent: (event) => event.type === "model-answer" && run.stop(),
    });
    await run.result;
    const { status, error } = await createAgent({ model, store, workspace: createWorkspace() }).resume(run.id).result;
    outcomes.push(error?.code ?? status);
  }

  expect(outcomes).toEqual(["run-incomplete", "ok"]);
});

test.for([1, 2])("resume() says that a skill is missing that was open, also behind call %i", async (stopAt) => {
  const { agent, store } = createWorld(["direct", "kitbag.mock"]);
  let ended = 0;
  const run = agent.run("Work", {
    onEvent: (event) => event.type === "tool-end" && ++ended === stopAt && run.stop(),
  });
  await run.result;
  const length = (await createRuns({ store }).read(run.id)).length;

  const other = createAgent({ model: mockModel(["Done"]), store, workspace: createWorkspace() });
  const refused = await other.resume(run.id).result;

  const written = (await createRuns({ store }).read(run.id)).slice(length).map(({ value }) => value.type);
  expect(refused).toMatchObject({
    status: "failed",
    error: { code: "run-incomplete", details: { missing: "the skill extra" } },
  });
  expect(new Set(written)).toEqual(new Set(["lease-start", "lease-end"]));
});

test("resume() of one run by two at the same time is done by one", async () => {
  const world = createWorld(["direct", "kitbag.mock"]);
  const run = world.agent.run("Work", { onEvent: (event) => event.type === "tool-end" && run.stop() });
  await run.result;
  const other = createAgent(world.options);

  const results = await Promise.all([world.agent.resume(run.id).result, other.resume(run.id).result]);

  expect(results.map(({ status, error }) => error?.code ?? status).toSorted()).toEqual(["ok", "run-leased"]);
});

test("run() takes an id that was taken by somebody who died before the run began", async () => {
  const { agent, store } = createWorld(["direct", "kitbag.mock"]);
  await (await createRuns({ store }).open("a")).close();

  expect(await agent.run("Work", { id: "a" }).result).toMatchObject({ status: "ok" });
});

const shape = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as const;

/** Opens a skill, makes calls side by side, is cut, goes on, closes the skill, answers badly, then well. */
function toScript(exposure: string): readonly MockAnswer[] {
  const tell = exposure === "direct" ? { tool: "extra__tell" } : { tool: "call_tool", input: { name: "extra__tell" } };
  return [
    { text: "I open it", calls: [{ id: "c1", tool: "activate_skill", input: { name: "extra" } }] },
    {
      calls: [
        { id: "c2", ...tell },
        { id: "c3", tool: "add", input: { a: 1 } },
        { id: "c4", tool: "missing" },
      ],
    },
    { text: "Let me look and ", cutAfter: 4 },
    { text: "see", calls: [{ id: "c5", tool: "add", input: "{a: 2" }] },
    { calls: [{ id: "c6", tool: "deactivate_skill", input: { name: "extra" } }] },
    '{"sum": "many"}',
    "It is three",
    '{"sum": 3}',
  ];
}

interface World {
  readonly store: Store;
  readonly agent: Agent;
  readonly options: AgentOptions;
  readonly asked: readonly ModelCall[];
}

function createWorld([exposure, provider]: (typeof exposures)[number], { answered = 0 } = {}): World {
  const store = memoryStore();
  const model = mockModel(toScript(exposure).slice(answered), { provider });
  const readOnly = { readOnly: true } as const;
  const add = defineTool({
    name: "add",
    description: "Adds",
    annotations: readOnly,
    input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
    run: ({ a }) => Number(a) + 1,
  });
  const extra = defineSkill({
    name: "extra",
    description: "Tells more",
    workDirection: "Call extra/tell.",
    tools: [defineTool({ name: "tell", description: "Tells", annotations: readOnly, run: () => "told" })],
  });
  const hooks: AgentOptions["hooks"] = {
    beforeCall: ({ tool, input }) =>
      tool === "add" ? { input: { a: Number((input as JsonObject)["a"]) * 10 } } : undefined,
    afterCall: (_call, outcome) =>
      outcome.status === "ok" && outcome.output === "told" ? { status: "ok", output: "changed" } : undefined,
  };
  const options: AgentOptions = {
    model,
    store,
    exposure,
    hooks,
    workspace: createWorkspace({ tools: [add], skills: [extra] }),
  };
  return { store, options, agent: createAgent(options), asked: model.asked };
}

function toSeen(asked: readonly ModelCall[]): unknown {
  return asked.map(({ prompt, tools, responseFormat }) => ({ prompt, tools, responseFormat }));
}

function toFacts({ status, text, output, steps, usage, skills, messages }: RunResult): unknown {
  const { modelCalls, toolCalls } = usage;
  return { status, text, output, steps, modelCalls, toolCalls, skills, messages };
}

function stopAfterCall(run: () => { stop(): void }): Pick<RunOptions, "onEvent"> {
  return { onEvent: (event) => event.type === "tool-end" && event.recalled !== true && run().stop() };
}
