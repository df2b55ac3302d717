import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import type { ToolAnnotations } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { mockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";
import type { RunResult } from "../run-result.ts";

test("a call that waits is shown with what the hook makes of its input, and that is what runs", async () => {
  const { agent, store, made } = createWorld([drop("a"), "Done"], {
    hooks: { beforeCall: ({ input }) => ({ input: { to: `safe/${(input as JsonObject)["to"] as string}` } }) },
  });
  const paused = await agent.run("Go").result;

  const result = await decideAll(agent, paused);

  expect(await shownBy(store, paused)).toEqual([{ to: "safe/a" }]);
  expect(result.status).toBe("ok");
  expect(made).toEqual(["safe/a"]);
});

test("a call is made as it was approved, also where the hook is gone that had changed its input", async () => {
  const { agent, made, options } = createWorld([drop("a"), "Done"], {
    hooks: { beforeCall: () => ({ input: { to: "safe/a" } }) },
  });
  const paused = await agent.run("Go").result;
  const { hooks: _gone, ...others } = options;

  const result = await decideAll(createAgent(others), paused);

  expect(result.status).toBe("ok");
  expect(made).toEqual(["safe/a"]);
});

test("a call is not made with another input than the one that was approved", async () => {
  let times = 0;
  const { agent, made } = createWorld([drop("a"), "Done"], {
    hooks: { beforeCall: () => ({ input: { to: `other ${++times}` } }) },
  });
  const paused = await agent.run("Go").result;

  const result = await decideAll(agent, paused);

  expect(made).toEqual([]);
  expect(JSON.stringify(result.messages)).toContain("another input than the one that was approved");
});

test("a call that was approved is not made again with another input", async () => {
  const { agent, made } = createWorld([drop("a"), "Done"], {
    hooks: { afterCall: (_call, { status }) => (status === "ok" ? { again: { to: "b" } } : undefined) },
  });
  const paused = await agent.run("Go").result;

  await decideAll(agent, paused);

  expect(made).toEqual(["a"]);
});

test("a call is made with the input that somebody gave with the approval, which is checked", async () => {
  const { agent, made } = createWorld([drop("a"), "Done"]);
  const right = await agent.run("Go").result;
  const other = createWorld([drop("a"), "Done"]);
  const wrong = await other.agent.run("Go").result;

  await decideAll(agent, right, { to: "b" });
  const result = await decideAll(other.agent, wrong, { to: 5, more: true });

  expect(made).toEqual(["b"]);
  expect(other.made).toEqual([]);
  expect(JSON.stringify(result.messages)).toContain("the input is wrong");
});

test("a hook may deny a call before anybody is asked to approve it", async () => {
  const { agent, made } = createWorld([drop("a"), "Done"], { hooks: { beforeCall: () => ({ deny: "not today" }) } });

  const result = await agent.run("Go").result;

  expect(result.status).toBe("ok");
  expect(JSON.stringify(result.messages)).toContain("not today");
  expect(made).toEqual([]);
});

test("one of two parallel calls that wait is made when it is approved, and the other waits on", async () => {
  const script = [{ calls: [...drop("a").calls, ...drop("b").calls] }, "Done"];
  const { agent, made } = createWorld(script, {}, { parallelSafe: true });
  const paused = await agent.run("Go").result;
  const [, second = ""] = paused.approvals ?? [];

  await agent.decide(second, { decision: "approve" });
  const still = await agent.resume(paused.run).result;
  const result = await decideAll(agent, still);

  expect(still).toMatchObject({ status: "paused", approvals: [`${paused.run}:1.0`] });
  expect(result.status).toBe("ok");
  expect(made).toEqual(["b", "a"]);
});

test("calls behind one that must be alone, and waits, are not made before it", async () => {
  const { agent, made } = createWorld(
    [{ calls: [...drop("a").calls, { tool: "put", input: { to: "b" } }, ...drop("c").calls] }, "Done"],
    {},
    { destructive: true },
  );
  const paused = await agent.run("Go").result;
  const before = [...made];

  const result = await decideAll(agent, paused);

  expect(paused).toMatchObject({ status: "paused", approvals: [`${paused.run}:1.0`, `${paused.run}:1.2`] });
  expect(before).toEqual([]);
  expect(result.status).toBe("ok");
  expect(made).toEqual(["a", "b", "c"]);
});

test("a call that was approved and made is not asked for again", async () => {
  const { agent, made, options } = createWorld([
    { calls: [...drop("a").calls, { tool: "put", input: { to: "stop" } }] },
    "Done",
  ]);
  const approving = createAgent({ ...options, approve: () => ({ decision: "approve" }) });
  const run = approving.run("Go", { onEvent: (event) => event.type === "tool-end" && run.stop() });
  await run.result;

  const result = await agent.resume(run.id).result;

  expect(result.status).toBe("ok");
  expect(made.filter((to) => to === "a")).toHaveLength(1);
  expect(await agent.replay(run.id)).toMatchObject({ status: "same", steps: 2 });
});

test("call_tool of a tool that needs an approval waits like the tool", async () => {
  const { agent, made } = createWorld(
    [{ calls: [{ tool: "call_tool", input: { name: "drop", input: { to: "a" } } }] }, "Done"],
    { exposure: "dispatch" },
  );
  const paused = await agent.run("Go").result;

  await decideAll(agent, paused);

  expect(paused.status).toBe("paused");
  expect(made).toEqual(["a"]);
});

test("a call that was approved may make calls that need no approval, and no others", async () => {
  const { agent, made } = createWorld([{ calls: [{ tool: "both" }] }, "Done"]);
  const paused = await agent.run("Go").result;

  const result = await decideAll(agent, paused);

  expect(made).toEqual(["inside"]);
  expect(JSON.stringify(result.messages)).toContain(
    "the nested call needs its own approval, and no approve function is set",
  );
});

test("a fork asks again for what was approved in the run that it was made from", async () => {
  const { agent, made } = createWorld([drop("a"), "Done", "Done"]);
  const paused = await agent.run("Go").result;
  await agent.decide(paused.approvals?.[0] ?? "", { decision: "approve" });

  const fork = await agent.fork(paused.run, 1, { id: "fork" }).result;

  expect(fork).toMatchObject({ status: "paused", approvals: ["fork:1.0"] });
  expect(made).toEqual([]);
  expect(await decideAll(agent, fork)).toMatchObject({ status: "ok" });
});

test("decide() by two at the same time counts once", async () => {
  const { agent, options, store } = createWorld([drop("a"), "Done"]);
  const { run, approvals = [] } = await agent.run("Go").result;
  const [approval = ""] = approvals;

  const results = await Promise.allSettled([
    agent.decide(approval, { decision: "approve" }),
    createAgent(options).decide(approval, { decision: "deny" }),
  ]);

  const decisions = (await createRuns({ store }).read(run)).filter(({ value }) => value.type === "approval-decided");
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(decisions.length);
  expect(decisions).toHaveLength(1);
});

test("decide() writes what it decides, and nothing else that it is given", async () => {
  const { agent, store } = createWorld([drop("a"), "Done"]);
  const { run, approvals = [] } = await agent.run("Go").result;
  const [approval = ""] = approvals;
  const sly = { decision: "deny", type: "task-start", approval: "other:1.0", run: "other", messages: [] } as const;

  await agent.decide(approval, sly);

  expect((await createRuns({ store }).read(run)).at(-2)?.value).toEqual({
    type: "approval-decided",
    run,
    approval,
    decision: "deny",
  });
});

function drop(to: string): { readonly calls: readonly { readonly tool: string; readonly input: JsonObject }[] } {
  return { calls: [{ tool: "drop", input: { to } }] };
}

interface World {
  readonly store: Store;
  readonly agent: Agent;
  readonly options: AgentOptions;
  readonly made: string[];
}

function createWorld(
  script: MockScript,
  options: Partial<AgentOptions> = {},
  annotations: ToolAnnotations = {},
): World {
  const store = memoryStore();
  const made: string[] = [];
  const input = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;
  const run = ({ to }: Readonly<Record<string, JsonValue>>): void => void made.push(String(to));
  const tools = [
    defineTool({ name: "drop", description: "Drops", needsApproval: true, annotations, input, run }),
    defineTool({ name: "put", description: "Puts", input, run }),
    defineTool({
      name: "both",
      description: "Puts and drops",
      needsApproval: true,
      async run(_input, { call }) {
        await call("put", { to: "inside" });
        const outcome = await call("drop", { to: "inside too" });
        return outcome.status === "failed" ? outcome.error.message : "dropped";
      },
    }),
  ];
  const all = { model: mockModel(script), store, workspace: createWorkspace({ tools }), ...options };
  return { store, made, options: all, agent: createAgent(all) };
}

async function decideAll(agent: Agent, { run, approvals = [] }: RunResult, input?: JsonValue): Promise<RunResult> {
  for (const approval of approvals)
    await agent.decide(approval, { decision: "approve", ...(input !== undefined && { input }) });
  return agent.resume(run).result;
}

async function shownBy(store: Store, { run }: RunResult): Promise<unknown> {
  const entries = await createRuns({ store }).read(run);
  return entries.flatMap(({ value }) => (value.type === "approval-asked" ? [value["input"]] : []));
}
