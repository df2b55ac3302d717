import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { mockModel, type MockAnswer } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import { createAgent } from "../create-agent.ts";
import { createDebugger, type DebugAction, type DebugStop } from "../debug/create-debugger.ts";
import type { AgentHooks } from "../hooks.ts";

const changeTo = (input: JsonValue): AgentHooks => ({ beforeCall: () => ({ input }) });

test.for([
  ["a hook", changeTo({ to: 7 })],
  ["somebody at the debugger", createDebugger({ onStop: toEdited, stop: () => {} })],
] as const)("resume() makes a call in flight with what %s has changed its input to", async ([, hooks]) => {
  const { agent, store, made } = await createKilled(hooks);

  const { status, messages } = await agent.resume("a").result;

  expect(status).toBe("ok");
  expect(made).toEqual([{ to: 7 }]);
  expect(messages[1]).toMatchObject({ content: [{ type: "tool-call", input: { to: 1 } }] });
  expect(await readChanges(store)).toEqual([{ to: 7 }]);
  expect(await agent.replay("a")).toMatchObject({ status: "same" });
});

test("fork() makes a call in flight with what a hook has changed its input to", async () => {
  const { agent, made } = await createKilled(changeTo({ to: 7 }));

  await agent.fork("a", 1).result;

  expect(made).toEqual([{ to: 7 }]);
});

test("resume() has a hook say anew what a call is made with, and shows it what the model gave", async () => {
  const { agent, store, made } = await createKilled(changeTo({ to: 7 }));
  const shown: JsonValue[] = [];

  await agent.resume("a", { hooks: { beforeCall: ({ input }) => void shown.push(input) } }).result;

  expect(shown).toEqual([{ to: 1 }]);
  expect(made).toEqual([{ to: 1 }]);
  expect(await readChanges(store)).toEqual([{ to: 7 }, { to: 1 }]);
});

test("resume() does not make a call in flight again if the journal does not say what it was made with", async () => {
  const token = `ghp_${"a1B2".repeat(9)}`;
  const { agent, store, made } = await createKilled(changeTo({ to: 7, token }));

  const { messages } = await agent.resume("a").result;

  expect(made).toEqual([]);
  expect(JSON.stringify(messages)).toContain("may have happened or not");
  expect(JSON.stringify(await readChanges(store))).not.toContain(token);
});

test("resume() makes such a call with what a hook says", async () => {
  const changed = { to: 7, token: `ghp_${"a1B2".repeat(9)}` };
  const { agent, made } = await createKilled(changeTo(changed));

  await agent.resume("a", { hooks: changeTo(changed) }).result;

  expect(made).toEqual([changed]);
});

test("resume() opens the skill that a call has opened in the place of the one that the model named", async () => {
  const opens: MockAnswer = { calls: [{ tool: "activate_skill", input: { name: "plain" } }] };
  const { agent } = await createKilled(changeTo({ name: "fancy" }), { answer: opens, keep: "step-outcome" });

  const { skills } = await agent.resume("a").result;

  expect(skills).toEqual(["fancy"]);
  expect(await agent.replay("a")).toMatchObject({ status: "same", steps: 2 });
});

function toEdited({ where }: DebugStop): DebugAction {
  return where === "call" ? { action: "continue", input: { to: 7 } } : { action: "step" };
}

interface Killed {
  readonly agent: Agent;
  readonly store: Store;
  /** What the tool was called with by whoever goes on with the run. */
  readonly made: readonly unknown[];
}

const counts: MockAnswer = { calls: [{ tool: "count", input: { to: 1 } }] };

/** A run whose process died right behind the first line of this type, and an agent without hooks. */
async function createKilled(hooks: AgentHooks, { answer = counts, keep = "call-changed" } = {}): Promise<Killed> {
  const [whole, store] = [memoryStore(), memoryStore()];
  const made: unknown[] = [];
  const count = defineTool({
    name: "count",
    description: "Counts",
    annotations: { idempotent: true },
    input: { type: "object", properties: { to: { type: "number" }, token: { type: "string" } } },
    run: (input) => void made.push(input),
  });
  const skills = ["plain", "fancy"].map((name) =>
    defineSkill({ name, description: `Is ${name}`, workDirection: "Tell.", tools: [] }),
  );
  const workspace = createWorkspace({ tools: [count], skills });
  await createAgent({ model: mockModel([answer, "Done"]), workspace, store: whole }).run("Work", { id: "a", hooks })
    .result;
  const journal = (await createRuns({ store: whole }).read("a")).map(({ value }) => value);
  await store.log.append("run:a", journal.slice(0, journal.findIndex(({ type }) => type === keep) + 1));
  made.length = 0;
  return { store, made, agent: createAgent({ model: mockModel(["Done"]), workspace, store }) };
}

async function readChanges(store: Store): Promise<readonly unknown[]> {
  const journal = await createRuns({ store }).read("a");
  return journal.flatMap(({ value }) => (value.type === "call-changed" ? [value["input"]] : []));
}
