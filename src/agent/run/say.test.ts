import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { mockModel, type MockAnswer } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";
import type { AgentHooks } from "../hooks.ts";

test.for([
  ["while the model answers", (run) => ({ beforeModel: () => steerAndStop(run()) })],
  ["while a hook looks at the answer", (run) => ({ afterModel: async () => steerAndStop(run()) })],
] as readonly [string, (run: () => AgentRun) => AgentHooks][])(
  "steer() before stop() %s is heard when the run is resumed",
  async ([, toHooks]) => {
    const { agent, asked, journal } = createWorld(["Nobody hears this", "Louder"]);
    const run: AgentRun = agent.run("Say something", { hooks: toHooks(() => run) });
    const stopped = await run.result;

    const resumed = await agent.resume(run.id).result;

    expect(stopped).toMatchObject({ status: "stopped", reason: "cancelled" });
    expect(stopped.messages.at(-1)).toEqual(said);
    expect(resumed).toMatchObject({ status: "ok", text: "Louder", steps: 1 });
    expect(asked().at(-1)).toEqual(said);
    expect(await journal(run.id, "message-added")).toMatchObject([{ step: 0, reason: "steering", message: said }]);
    expect(await agent.replay(run.id)).toMatchObject({ status: "same", steps: 1 });
  },
);

test("steer() before stop() while calls are made is heard when all of them are over, and once", async () => {
  const { agent, asked, journal } = createWorld([{ calls: [{ tool: "first" }, { tool: "second" }] }, "Louder"]);
  const run: AgentRun = agent.run("Do both", { hooks: { afterCall: () => steerAndStop(run) } });
  await run.result;
  const again: AgentRun = agent.resume(run.id, { onEvent: () => again.stop() });
  await again.result;

  const resumed = await agent.resume(run.id).result;

  expect(resumed).toMatchObject({ status: "ok", text: "Louder" });
  expect(asked().map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  expect(JSON.stringify(asked()[2])).toMatch(/first is done.*second is done/u);
  expect(asked().at(-1)).toEqual(said);
  expect(await journal(run.id, "message-added")).toHaveLength(1);
  expect(await agent.replay(run.id)).toMatchObject({ status: "same", steps: 2 });
});

test("steer() while a run comes to wait for an approval is heard when the call was made", async () => {
  const { agent, asked } = createWorld([{ calls: [{ tool: "ask" }] }, "Louder"]);
  const run: AgentRun = agent.run("Ask", { hooks: { afterModel: (): void => run.steer("Say it louder") } });
  const paused = await run.result;
  await agent.decide(`${run.id}:1.0`, { decision: "approve" });

  const resumed = await agent.resume(run.id).result;

  expect(paused).toMatchObject({ status: "paused" });
  expect(resumed).toMatchObject({ status: "ok", text: "Louder" });
  expect(asked().map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
});

test("steer() before the model fails is there in a fork of the run", async () => {
  const { agent, asked } = createWorld([{ error: new Error("out of order") }, "Louder"]);
  const run: AgentRun = agent.run("Say something", {
    hooks: { onModelError: (): void => run.steer("Say it louder") },
  });
  await run.result;

  const fork = await agent.fork(run.id, 0).result;

  expect(fork).toMatchObject({ status: "ok", text: "Louder" });
  expect(asked().at(-1)).toEqual(said);
});

const said = { role: "user", content: [{ type: "text", text: "Say it louder" }] };

function steerAndStop(run: AgentRun): undefined {
  run.steer("Say it louder");
  run.stop();
}

interface World {
  readonly agent: Agent;
  /** What the model was shown last. */
  asked(): readonly { readonly role: string }[];
  journal(run: string, type: string): Promise<readonly unknown[]>;
}

function createWorld(answers: readonly MockAnswer[]): World {
  const store: Store = memoryStore();
  const model = mockModel(answers);
  const annotations = { destructive: true, idempotent: true };
  const tools = [
    defineTool({ name: "first", description: "Is first", annotations, run: () => "first is done" }),
    defineTool({ name: "second", description: "Is second", annotations, run: () => "second is done" }),
    defineTool({ name: "ask", description: "Asks", needsApproval: true, run: () => "asked" }),
  ];
  return {
    agent: createAgent({ model, store, workspace: createWorkspace({ tools }) }),
    asked: () => model.asked.at(-1)?.prompt.filter(({ role }) => role !== "system") ?? [],
    journal: async (run, type) =>
      (await createRuns({ store }).read(run)).flatMap(({ value }) => (value.type === type ? [value] : [])),
  };
}
