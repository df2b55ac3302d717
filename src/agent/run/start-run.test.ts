import { expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Model } from "../../models/model.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";
import type { AgentEvent } from "../events.ts";
import type { AgentHooks } from "../hooks.ts";

const never = new Promise<never>(() => undefined);

const hookNames = [
  "onRunStart",
  "onStepStart",
  "onStepEnd",
  "beforeModel",
  "afterModel",
  "beforeCall",
  "afterCall",
  "onRunEnd",
] as const satisfies readonly (keyof AgentHooks)[];

test.for(hookNames)("stop() ends a run whose hook %s never answers", async (name) => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const hook = (): Promise<never> => {
    reach();
    return never;
  };
  const run = createTestAgent().run("Go", { hooks: { [name]: hook } });
  await reached;

  run.stop();

  expect(await run.result).toMatchObject(
    name === "onRunEnd" ? { status: "ok" } : { status: "stopped", reason: "cancelled" },
  );
});

test.for(["question", "part"])("stop() ends a run whose model never gives its %s, and does not listen", async (at) => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const wait = (): Promise<never> => {
    reach();
    return never;
  };
  const deaf = {
    ...mockModel([]),
    doStream: async () => (at === "question" ? wait() : { stream: new ReadableStream({ pull: wait }) }),
  } as Model;
  const run = createTestAgent({ model: deaf, retries: false }).run("Go");
  await reached;

  run.stop();

  expect(await run.result).toMatchObject({ status: "stopped", reason: "cancelled" });
});

test("stop() ends a run whose skill does not let itself be closed", async () => {
  const stuck = defineSkill({
    name: "stuck",
    description: "Stuck",
    workDirection: "Wait",
    tools: [],
    onDeactivate: () => never,
  });
  const workspace = createWorkspace({ skills: [stuck] });
  const run = createTestAgent({ model: mockModel(["Done"]), workspace }).run("Go", { skills: ["stuck"] });
  for await (const _event of run);

  run.stop();

  expect(await run.result).toMatchObject({ status: "ok", text: "Done" });
});

test("stop() before a run has begun ends it, and it says so", async () => {
  const run = createTestAgent().run("Go", { hooks: { onRunStart: () => never } });

  run.stop();

  expect(await run.result).toMatchObject({ status: "stopped", reason: "cancelled", steps: 0 });
});

test("stop() leaves calls that had not begun to whoever resumes the run", async () => {
  const made: number[] = [];
  const add = defineTool({
    name: "add",
    description: "Adds",
    annotations: { destructive: true },
    input: { type: "object", properties: { to: { type: "number" } } },
    run({ to }) {
      made.push(Number(to));
      if (made.length === 2) run.stop();
      return "added";
    },
  });
  const calls = Array.from({ length: 30 }, (_, to) => ({ tool: "add", input: { to } }));
  const agent = createTestAgent({
    model: mockModel([{ calls }, "Done"]),
    workspace: createWorkspace({ tools: [add] }),
    store: memoryStore(),
  });
  const run = agent.run("Go");
  const stopped = await run.result;

  const result = await agent.resume(run.id).result;

  expect(stopped).toMatchObject({ status: "stopped", reason: "cancelled" });
  expect(stopped.messages.at(-1)?.content).toHaveLength(30);
  expect(result).toMatchObject({ status: "ok", text: "Done" });
  expect(made).toEqual(calls.map(({ input }) => input.to));
});

test.for(["tool", "model", "hook"])("maxMs stops a run whose %s does not end", async (what) => {
  const hang = defineTool({ name: "put", description: "Hangs", run: () => never });
  const deaf = { ...mockModel([]), doStream: () => never } as Model;
  const agent = createTestAgent({
    limits: { maxMs: 20 },
    ...(what === "tool" && { workspace: createWorkspace({ tools: [hang] }) }),
    ...(what === "model" && { model: deaf }),
    ...(what === "hook" && { hooks: { beforeCall: () => never } }),
  });

  expect(await agent.run("Go").result).toMatchObject({ status: "stopped", reason: "time" });
});

test("maxMs may be longer than any timer", async () => {
  expect(await createTestAgent({ limits: { maxMs: 1e15 } }).run("Go").result).toMatchObject({ status: "ok" });
});

test.for(["task-start", "text-delta", "tool-start", "tool-end", "task-end"])(
  "run() goes on when a listener throws at %s, or rejects",
  async (type) => {
    const throws = (event: AgentEvent): void => {
      if (event.type === type) throw new Error("No");
    };
    // Types do not keep anybody from giving one that answers with a promise.
    const rejects = (async (event: AgentEvent) => throws(event)) as (event: AgentEvent) => void;

    const results = await Promise.all([
      createTestAgent().run("Go", { onEvent: throws }).result,
      createTestAgent().run("Go", { onEvent: rejects }).result,
      createTestAgent().run("Go", { onText: () => throws({ type } as AgentEvent) }).result,
    ]);

    expect(results.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  },
);

test("run() tells its end also when it could not begin", async () => {
  const events: AgentEvent[] = [];

  await createTestAgent().run("", { onEvent: (event) => void events.push(event) }).result;

  expect(events).toMatchObject([{ type: "task-end", result: { status: "failed", error: { code: "option-invalid" } } }]);
});

test("run() calls onRunEnd once, also if it throws", async () => {
  let times = 0;
  const hooks: AgentHooks = {
    onRunEnd() {
      times += 1;
      throw new Error("No");
    },
  };

  const result = await createTestAgent({ hooks }).run("Go").result;

  expect(result).toMatchObject({ status: "failed", error: { code: "hook-failed" } });
  expect(times).toBe(1);
});

test("run() calls onStepEnd behind each step, also the last", async () => {
  const steps: string[] = [];
  const hooks: AgentHooks = {
    onStepStart: ({ step }) => steps.push(`${step} starts`),
    onStepEnd: ({ step }) => steps.push(`${step} ends`),
  };

  await createTestAgent({ hooks }).run("Go").result;

  expect(steps).toEqual(["1 starts", "1 ends", "2 starts", "2 ends"]);
});

test("run() answers with methods that can be handed on, and no getters of its own: V8 would hold what they see for long", async () => {
  const run = createTestAgent().run("Go");
  const { stop, steer, breakdown } = run;

  steer("and on");
  await run.result;
  stop();

  expect(breakdown().length).toBeGreaterThan(0);
  expect(Object.values(Object.getOwnPropertyDescriptors(run)).filter(({ get }) => get !== undefined)).toEqual([]);
  expect(run.usage.modelCalls).toBe(2);
});

test("run() leaves nothing open, however 1,000 runs end", async () => {
  const caller = new AbortController();
  const listeners = countListeners(caller.signal);
  const store = memoryStore();
  const closed: string[] = [];
  const note = defineSkill({
    name: "note",
    description: "Notes",
    workDirection: "Note",
    tools: [],
    onDeactivate: () => void closed.push("note"),
  });
  const workspace = createWorkspace({ tools: [put], skills: [note] });
  const fail = (): never => {
    throw new Error("No");
  };

  for (let index = 0; index < 1000; index++) {
    const hook = hookNames[index % (hookNames.length + 2)];
    const model = index % 10 === 9 ? mockModel([]) : mockModel([{ calls: [{ tool: "put" }] }, "Done"]);
    const agent = createAgent({ model, workspace, store, retries: false, limits: { maxMs: 60_000 } });
    const run = agent.run("Go", {
      signal: caller.signal,
      skills: ["note"],
      hooks: hook === undefined ? {} : { [hook]: fail },
    });
    if (index % 7 === 0) run.stop();
    await run.result;
  }

  expect(listeners()).toBe(0);
  expect(closed).toHaveLength(1000);
  expect(workspace.getActiveSkills()).toEqual([]);
  expect(await createRuns({ store }).list({ limit: 2000 })).not.toContainEqual(
    expect.objectContaining({ status: "running" }),
  );
  expect(process.getActiveResourcesInfo().filter((type) => type === "Timeout").length).toBeLessThan(10);
});

const put = defineTool({ name: "put", description: "Puts", run: () => "put" });

function createTestAgent(options: Partial<AgentOptions> = {}): ReturnType<typeof createAgent> {
  const model = mockModel([{ text: "I put it", calls: [{ tool: "put" }] }, "Done"]);
  const script: Model = { ...model, doStream: (call) => model.doStream(call) };
  return createAgent({ model: script, workspace: createWorkspace({ tools: [put] }), ...options });
}

/** How many listeners a signal has. */
function countListeners(signal: AbortSignal): () => number {
  let count = 0;
  const { addEventListener: add, removeEventListener: remove } = signal;
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    count += 1;
    add.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    count -= 1;
    remove.apply(signal, given);
  };
  onTestFinished(() => void Object.assign(signal, { addEventListener: add, removeEventListener: remove }));
  return () => count;
}
