import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import type { Model } from "../../models/model.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { mockModel, type MockAnswer, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";

const twoCalls: MockAnswer = { calls: [{ tool: "put" }, { tool: "put" }] };

test("a run makes no call when the answer that asks for it cannot be kept, and can be resumed", async () => {
  const world = createWorld([twoCalls, twoCalls, "Done"], { awayFor: "model-answer" });

  const failed = await world.agent.run("Go", { id: "a" }).result;
  const calls = world.made.length;
  const result = await world.agent.resume("a").result;

  expect(failed).toMatchObject({ status: "failed", error: { code: "store-unavailable" } });
  expect(calls).toBe(0);
  expect(result).toMatchObject({ status: "ok", text: "Done" });
  expect(world.made).toHaveLength(2);
});

test("a run makes no call when its answer is nothing that can be kept", async () => {
  const part = { type: "custom", kind: "x.y", providerMetadata: { x: { y: Number.NaN } } } as never;
  const { agent, made } = createWorld([{ parts: [part], calls: [{ tool: "put" }] }, "Done"]);

  const result = await agent.run("Go").result;

  expect(result).toMatchObject({ status: "failed", error: { code: "store-value-invalid" } });
  expect(made).toEqual([]);
});

test.for(["task-start", "approval-asked", "message-added", "run-end", "lease-end"])(
  "a run whose store is away at %s says so or goes on, and can be resumed",
  async (type) => {
    const script: MockScript = ({ prompt }) => {
      const last = JSON.stringify(prompt.at(-1));
      if (last.includes("cut off")) return "Done";
      return prompt.at(-1)?.role === "tool"
        ? { text: "Half", finishReason: "interrupted" }
        : { calls: [{ tool: "drop" }] };
    };
    const world = createWorld(script, { awayFor: type });
    let result = await world.agent.run("Go", { id: "a" }).result;
    for (let tries = 0; tries < 10 && result.status !== "ok"; tries++) {
      for (const approval of result.approvals ?? []) await world.agent.decide(approval, { decision: "approve" });
      const isKnown = (await createRuns({ store: world.store }).read("a")).some(
        ({ value }) => value.type === "task-start",
      );
      result = await (isKnown ? world.agent.resume("a") : world.agent.run("Go", { id: "a" })).result;
    }

    expect(result).toMatchObject({ status: "ok", text: "HalfDone" });
    expect(world.made).toEqual(["drop"]);
  },
);

test("a run that somebody else has taken over while the model answered makes no call, and says that it is lost", async () => {
  const { store, made } = createWorld([]);
  const model = mockModel([{ calls: [{ tool: "put" }] }, "Done"]);
  const slow: Model = {
    ...model,
    async doStream(call) {
      // As after a lease that has run out: somebody else writes its own.
      await store.log.append("run:a", [{ type: "lease-start", epoch: 2, worker: "other" }]);
      return model.doStream(call);
    },
  };

  const result = await createAgent({ model: slow, store, workspace: createTestWorkspace(made) }).run("Go", { id: "a" })
    .result;

  const reason = 'the worker "other" has taken it over';
  expect(result).toMatchObject({
    status: "stopped",
    reason: "lost",
    error: { code: "lease-lost", details: { reason } },
  });
  expect(made).toEqual([]);
  expect((await createRuns({ store }).read("a")).at(-1)?.value).toMatchObject({ type: "lease-start", worker: "other" });
});

test("a run whose store stays away makes no call, says why it is lost, and can be resumed", async () => {
  const { store, made } = createWorld([]);
  const model = mockModel([{ calls: [{ tool: "put" }] }, { calls: [{ tool: "put" }] }, "Done"]);
  let isFull = false;
  const workspace = createTestWorkspace(made);
  const createOn = (kept: Store): Agent => createAgent({ model, store: kept, workspace, leaseMs: 30 });
  const filling = withFull(store, () => isFull);

  const lost = await createOn(filling).run("Go", { id: "a", hooks: { afterModel: () => void (isFull = true) } }).result;
  isFull = false;
  const resume = async (): Promise<string> => (await createOn(store).resume("a").result).status;

  await expect.poll(resume).toBe("ok");
  expect(lost).toMatchObject({ status: "stopped", reason: "lost", error: { code: "lease-lost" } });
  expect(lost.error?.message).toContain("the disk is full");
  expect(made).toEqual(["put"]);
});

interface World {
  readonly store: Store;
  readonly agent: Agent;
  readonly made: string[];
}

/** The same store, on a disk that is full at times. */
function withFull({ log, kv, ...store }: Store, isFull: () => boolean): Store {
  const refuse = async (): Promise<never> => {
    const facts = { store: "test", reason: "the disk is full", cure: "free some space", mayBeWritten: false };
    throw new KitbagError("store-unavailable", facts);
  };
  return {
    ...store,
    log: { ...log, append: (...words) => (isFull() ? refuse() : log.append(...words)) },
    kv: { ...kv, set: (...words) => (isFull() ? refuse() : kv.set(...words)) },
  };
}

/** A store that is away once, when something of a type is to be written. */
function createWorld(script: MockScript, { awayFor = "" }: { readonly awayFor?: string } = {}): World {
  const inner = memoryStore();
  const made: string[] = [];
  let wasAway = false;
  const store: Store = {
    ...inner,
    log: {
      ...inner.log,
      async append(stream, values, options) {
        if (!wasAway && awayFor !== "" && JSON.stringify(values).includes(`"type":"${awayFor}"`)) {
          wasAway = true;
          throw new KitbagError("store-unavailable", {
            store: "test",
            reason: "away",
            cure: "wait",
            mayBeWritten: false,
          });
        }
        return inner.log.append(stream, values, options);
      },
    },
  };
  const options: AgentOptions = { model: mockModel(script), store, workspace: createTestWorkspace(made), leaseMs: 30 };
  return { store, made, agent: createAgent(options) };
}

function createTestWorkspace(made: string[]): Workspace {
  const tool = (name: string, needsApproval: boolean): Tool =>
    defineTool({ name, description: name, needsApproval, run: () => void made.push(name) });
  return createWorkspace({ tools: [tool("put", false), tool("drop", true)] });
}
