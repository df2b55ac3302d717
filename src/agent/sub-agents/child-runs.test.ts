import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import type { ToolAnnotations } from "../../core/tool.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { type MockCall, mockModel, type MockModel, type MockScript } from "../../testing/models/mock-model.ts";
import type { Approve } from "../../workspace/call/call-options.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";
import type { RunResult } from "../run-result.ts";
import { type AgentToolOptions, agentTool } from "./agent-tool.ts";

type Calls = { readonly calls: readonly MockCall[] };

const call = (tool: string, input: JsonObject = {}): Calls => ({ calls: [{ tool, input }] });
const ask = (...tasks: readonly string[]): Calls => ({
  calls: tasks.map((task) => ({ tool: "helper", input: { task } })),
});
/** A thousand tokens of input cost $0.001. */
const prices = { "acme/*": { input: 1, output: 1 } };
const acme = { provider: "acme", modelId: "m" };

test("an approval that a sub-agent waits for pauses the run above with the approval's own id; deciding it resumes both", async () => {
  const { agent, made, helperModel } = setUp([call("look"), call("drop", { to: "a" }), "Dropped"]);

  const paused = await agent.run("Go", { id: "top" }).result;
  const before = [...made];
  await agent.decide("top~1.0:2.0", { decision: "approve" });
  const result = await agent.resume("top").result;

  expect(paused).toMatchObject({ status: "paused", approvals: ["top~1.0:2.0"] });
  expect(before).toEqual(["look"]);
  expect(result).toMatchObject({ status: "ok", text: "Done" });
  expect(made).toEqual(["look", "drop a"]);
  expect(helperModel.asked).toHaveLength(3);
  expect(await agent.replay("top")).toMatchObject({ status: "same", steps: 2 });
});

test("a denied call of a sub-agent is told to the sub-agent, and another input is what it is made with", async () => {
  const denied = setUp([call("drop", { to: "a" }), "Then not"]);
  const changed = setUp([call("drop", { to: "a" }), "Done"]);
  for (const { agent } of [denied, changed]) await agent.run("Go", { id: "top" }).result;

  await denied.agent.decide("top~1.0:1.0", { decision: "deny", reason: "not today" });
  await changed.agent.decide("top~1.0:1.0", { decision: "approve", input: { to: "b" } });
  const [first, second] = [await denied.agent.resume("top").result, await changed.agent.resume("top").result];

  expect([first.status, second.status]).toEqual(["ok", "ok"]);
  expect(denied.helperModel.shown().conversation).toContain("not today");
  expect([denied.made, changed.made]).toEqual([[], ["drop b"]]);
});

test("the approve function of the run above decides on calls of sub-agents, which say on whose behalf they are", async () => {
  const asked: unknown[] = [];
  const approve: Approve = ({ address, callers, input }) => {
    asked.push([address, callers, input]);
    return address === "drop" ? { decision: "deny", reason: "no" } : { decision: "approve" };
  };
  const { agent, made } = setUp([call("drop", { to: "a" }), "Then not"], { options: { approve } });

  const { status } = await agent.run("Go");

  expect(status).toBe("ok");
  expect(asked).toEqual([
    ["helper", [], { task: "a" }],
    ["drop", ["helper"], { to: "a" }],
  ]);
  expect(made).toEqual([]);
});

test("a call of a sub-agent needs the approval of its own program and of the run above", async () => {
  const yes: Approve = () => ({ decision: "approve" });
  const no: Approve = ({ address }) =>
    address === "drop" ? { decision: "deny", reason: "no" } : { decision: "approve" };
  const script = [call("drop", { to: "a" }), "Done"];
  const worlds = [
    setUp(script, { options: { approve: yes }, helperOptions: { approve: no } }),
    setUp(script, { options: { approve: no }, helperOptions: { approve: yes } }),
    setUp(script, { options: { approve: yes }, helperOptions: { approve: yes } }),
    setUp(script, { helperOptions: { approve: yes } }),
  ];

  for (const { agent } of worlds) await agent.run("Go");

  expect(worlds.map(({ made }) => made.length)).toEqual([0, 0, 1, 1]);
});

test("without a store and an approve function, a call of a sub-agent that needs an approval is refused", async () => {
  const { agent, made, helperModel } = setUp([call("drop", { to: "a" }), "Then not"], { store: "none" });

  const { status } = await agent.run("Go");

  expect(status).toBe("ok");
  expect(made).toEqual([]);
  expect(helperModel.shown().conversation).toContain("needs an approval");
});

test("sub-agents that work at the same time pause with all of their approvals, and what is done is not done again", async () => {
  const script: MockScript = ({ prompt }) => {
    return prompt.length < 3 ? call("look") : prompt.length < 5 ? call("drop", { to: "it" }) : "Dropped";
  };
  const { agent, made } = setUp(script, { script: [ask("a", "b"), "Done"] });

  const paused = await agent.run("Go", { id: "top" }).result;
  await agent.decide("top~1.1:2.0", { decision: "approve" });
  const still = await agent.resume("top").result;
  await agent.decide("top~1.0:2.0", { decision: "approve" });
  const result = await agent.resume("top").result;

  expect(paused).toMatchObject({ status: "paused", approvals: ["top~1.0:2.0", "top~1.1:2.0"] });
  expect(still).toMatchObject({ status: "paused", approvals: ["top~1.0:2.0"] });
  expect(result.status).toBe("ok");
  expect(made.filter((one) => one === "look")).toHaveLength(2);
  expect(made.filter((one) => one === "drop it")).toHaveLength(2);
});

test("stop() of a run stops its sub-agents; resume() goes on with them where they were", async () => {
  const world = setUp([call("look"), call("slow"), "Seen"]);
  const { agent, made } = world;
  const run = agent.run("Go", { id: "top" });
  world.onSlow = () => run.stop();

  const stopped = await run.result;
  const result = await agent.resume("top").result;

  expect(stopped).toMatchObject({ status: "stopped", reason: "cancelled" });
  expect(result).toMatchObject({ status: "ok", text: "Done" });
  expect(made).toEqual(["look", "slow", "slow"]);
  expect((await agent.replay("top")).status).toBe("same");
});

test("an approval of a sub-agent is not waited for while the run above is stopped, and is when that goes on", async () => {
  const script: MockScript = ({ prompt }) => {
    const [tool, answer] = JSON.stringify(prompt).includes("first") ? ["drop", "Dropped"] : ["slow", "Slow"];
    return prompt.length < 3 ? call(tool, tool === "drop" ? { to: "a" } : {}) : answer;
  };
  const world = setUp(script, { script: [ask("first", "second"), "Done"] });
  const { agent, made } = world;
  const [paused, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  world.onSlow = slow.resolve;
  const run = agent.run("Go", {
    id: "top",
    onEvent: (event) => event.type === "child-event" && event.event.type === "task-end" && paused.resolve(),
  });
  await Promise.all([paused.promise, slow.promise]);
  run.stop();
  const stopped = await run.result;

  const early = await agent.decide("top~1.0:1.0", { decision: "approve" }).catch((cause: unknown) => cause);
  const again = await agent.resume("top").result;
  await agent.decide("top~1.0:1.0", { decision: "approve" });
  const result = await agent.resume("top").result;

  expect(stopped).toMatchObject({ status: "stopped", reason: "cancelled" });
  expect(String(early)).toContain('the run "top" was stopped: resume it first');
  expect(again).toMatchObject({ status: "paused", approvals: ["top~1.0:1.0"] });
  expect(result.status).toBe("ok");
  expect(made.filter((one) => one === "drop a")).toHaveLength(1);
});

test("a sub-agent that never ends is stopped by the time limit of the run above, and leaves nothing open", async () => {
  const store = memoryStore();
  const { agent } = setUp([call("slow"), "Never"], { options: { limits: { maxMs: 60 } }, store, isEndless: true });

  const result = await agent.run("Go", { id: "top" }).result;

  expect(result).toMatchObject({ status: "stopped", reason: "time" });
  expect((await createRuns({ store }).list()).map(({ status }) => status)).toEqual(["failed", "failed"]);
});

test("a sub-agent has what is left of the limits of the run above", async () => {
  const usage = { input: 1000, output: 0 };
  const again = () => ({ ...call("look"), usage });
  const { agent, made } = setUp(again, {
    options: { limits: { maxTokens: 3500 } },
    script: [
      { ...ask("Go"), usage },
      { text: "Done", usage },
    ],
  });

  const result = await agent.run("Go", { id: "top" }).result;

  // 1,000 tokens for its own question, and 1,000 for each of the sub-agent's.
  expect(made).toHaveLength(3);
  expect(result).toMatchObject({ status: "stopped", reason: "tokens", usage: { inputTokens: 4000 } });
});

test("sub-agents that work at the same time share what is left of a cost limit", async () => {
  const usage = { input: 1000, output: 0 };
  const again = () => ({ ...call("look"), usage });
  const { agent } = setUp(again, {
    options: { limits: { maxCost: 0.01 }, prices },
    helperOptions: { prices },
    script: [
      { ...ask("a", "b", "c"), usage },
      { text: "Done", usage },
    ],
  });

  const result = await agent.run("Go").result;

  expect(result).toMatchObject({ status: "stopped", reason: "cost" });
  // Each may go over the limit with one answer.
  expect(result.cost).toBeLessThanOrEqual(0.0131);
});

test("an agent that calls itself is bounded, with an error that says so", async () => {
  const model = mockModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? "I stop" : call("self", { task: "again" }),
  );
  const workspace = createWorkspace();
  const agent: Agent = createAgent({ model, workspace, store: memoryStore() });
  workspace.add(agentTool(() => agent, { name: "self", description: "Is itself" }));

  const result = await agent.run("Go", { id: "top" }).result;

  expect(result).toMatchObject({ status: "ok", text: "I stop" });
  expect(model.asked.length).toBeLessThanOrEqual(8);
  expect(JSON.stringify(model.asked)).toContain("already in this chain of nested calls 3 times");
});

test("agents that call each other are bounded by maxDepth, with an error that says so", async () => {
  const model = mockModel(({ prompt, tools = [] }) =>
    prompt.at(-1)?.role === "tool" ? "I stop" : call(tools[0]?.name ?? "", { task: "again" }),
  );
  const [one, two] = [createWorkspace(), createWorkspace()];
  const first: Agent = createAgent({ model, workspace: one, limits: { maxDepth: 2 } });
  const second: Agent = createAgent({ model, workspace: two });
  one.add(agentTool(() => second, { name: "second", description: "Is the second" }));
  two.add(agentTool(() => first, { name: "first", description: "Is the first" }));

  const result = await first.run("Go").result;

  expect(result).toMatchObject({ status: "ok", text: "I stop" });
  expect(JSON.stringify(model.asked)).toContain("nested calls may go 2 deep");
});

test("a sub-agent may not call what the user of the run above may not", async () => {
  const { made, options, helperModel } = setUp([call("look"), call("put"), "Done"]);
  const [helper] = options.workspace.getAvailableTools();
  const workspace = createWorkspace({ components: [{ name: "team", tools: helper ? [helper.tool] : [] }] });
  const model = mockModel([call("team/helper", { task: "Go" }), "Done"]);
  const scopesOf = () => new Set(["tools:read", "tools:of:team"]);

  const { status } = await createAgent({ model, workspace, scopesOf }).run("Go", { user: "ann" });

  expect(status).toBe("ok");
  expect(made).toEqual(["look"]);
  expect(helperModel.shown().conversation).toContain("none of the scopes");
});

test("a read-only tool that is an agent calls only read-only tools", async () => {
  const { agent, made, helperModel } = setUp([call("look"), call("put"), "Done"], {
    tool: { annotations: { readOnly: true } },
  });

  await agent.run("Go");

  expect(made).toEqual(["look"]);
  expect(helperModel.shown().conversation).toContain("read-only");
});

test("guards of the run above see the calls of its sub-agents", async () => {
  const seen: string[] = [];
  const { agent, made } = setUp([call("put"), "Done"], {
    options: {
      guards: [
        {
          name: "no-put",
          check: ({ tool, place }) => {
            seen.push(`${place} ${tool ?? ""}`);
            return tool === "put" ? { refuse: "never" } : undefined;
          },
        },
      ],
    },
  });

  await agent.run("Go");

  expect(made).toEqual([]);
  expect(seen).toContain("tool-input put");
});

test("a crash between the end of a sub-agent and its outcome above loses nothing, and counts its cost once", async () => {
  const usage = { input: 1000, output: 0 };
  const store = memoryStore();
  const script: MockScript = ({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? { text: "Done", usage } : { ...ask("Go"), usage };
  const helperScript = [
    { ...call("put"), usage },
    { text: "Put", usage },
  ];
  const { agent, options, made, helperModel } = setUp(helperScript, {
    options: { prices },
    helperOptions: { prices },
    store,
    script,
  });
  const dying = createAgent({ ...options, leaseMs: 50, store: dieBehind(store, "top", "call-spent") });
  await dying.run("Go", { id: "top" }).result;

  const result = await resumeSoon(agent, "top");

  expect(result).toMatchObject({ status: "ok", text: "Done" });
  expect(result.cost).toBeCloseTo(0.004);
  expect(made).toEqual(["put"]);
  expect(helperModel.asked).toHaveLength(2);
});

interface World {
  readonly agent: Agent;
  readonly options: AgentOptions;
  readonly helper: Agent;
  readonly helperModel: MockModel;
  readonly made: string[];
  /** Called when the tool that takes its time begins. */
  onSlow: () => void;
}

interface Extras {
  readonly options?: Partial<AgentOptions>;
  readonly helperOptions?: Partial<AgentOptions>;
  readonly store?: Store | "none";
  readonly script?: MockScript;
  readonly tool?: Partial<AgentToolOptions>;
  readonly isEndless?: boolean;
}

/** An agent with one tool, a sub-agent that looks, puts, drops with an approval, and takes its time. */
function setUp(helperScript: MockScript, extras: Extras = {}): World {
  const {
    options,
    helperOptions,
    store = memoryStore(),
    script = [ask("a"), "Done"],
    tool,
    isEndless = false,
  } = extras;
  const made: string[] = [];
  const define = (name: string, annotations: ToolAnnotations, run = async (): Promise<void> => {}) =>
    defineTool({
      name,
      description: name,
      annotations,
      async run() {
        made.push(name);
        await run();
      },
    });
  const drop = defineTool({
    name: "drop",
    description: "Drops",
    needsApproval: true,
    input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
    run: ({ to }) => void made.push(`drop ${String(to)}`),
  });
  const slow = define("slow", { readOnly: true }, async () => {
    const isFirst = made.filter((one) => one === "slow").length === 1;
    world.onSlow();
    if (isFirst || isEndless) await new Promise<void>(() => {});
  });
  const tools = [define("look", { readOnly: true }), define("put", {}), drop, slow];
  const helperModel = mockModel(helperScript, acme);
  const helper = createAgent({ model: helperModel, workspace: createWorkspace({ tools }), ...helperOptions });
  const workspace = createWorkspace({
    tools: [agentTool(helper, { name: "helper", description: "Helps", ...(tool as object) })],
  });
  const all = { model: mockModel(script, acme), workspace, ...(store !== "none" && { store }), ...options };
  const world: World = { agent: createAgent(all), options: all, helper, helperModel, made, onSlow: () => {} };
  return world;
}

/** Goes on with a run whose process is dead as soon as its lease is over. */
async function resumeSoon(agent: Agent, id: string): Promise<RunResult> {
  for (;;) {
    const result = await agent.resume(id).result;
    if (result.error?.code !== "run-leased") return result;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A store whose process dies when a line of this type is to be written to a run. */
function dieBehind(store: Store, run: string, type: string): Store {
  let isDead = false;
  return {
    ...store,
    log: {
      ...store.log,
      append(stream, values, options) {
        isDead ||= stream === `run:${run}` && values.some((value) => (value as { type?: string }).type === type);
        if (isDead) throw new Error("the process is dead");
        return store.log.append(stream, values, options);
      },
    },
  };
}
