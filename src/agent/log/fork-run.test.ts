import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import type { ModelMessage } from "../../models/model.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { mockModel, type MockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentOptions } from "../agent-options.ts";
import type { Agent } from "../agent-interface.ts";
import { createAgent } from "../create-agent.ts";
import type { ModelAnswered } from "../events.ts";
import type { AnswerVerdict } from "../hooks.ts";
import type { ForkChanges } from "./fork-run.ts";

test.for<[what: string, changes: ForkChanges, text: string]>([
  ["an outcome", { outcomes: { "2.0": { status: "ok", output: "It burned down" } } }, "It burned down"],
  ["the task", { messages: [user("Count the pages")] }, "Count the pages"],
])("fork() shows %s as it was changed, also where messages were left out since", async ([, changes, text]) => {
  const { agent, model, compactedAt } = await readBook();

  const fork = await agent.fork("book", compactedAt + 1, changes).result;

  expect(JSON.stringify(model.asked.at(-1)?.prompt)).toContain(text);
  expect(fork.status).toBe("ok");
  expect(await agent.replay(fork.run)).toMatchObject({ status: "same", steps: fork.steps });
});

test("fork() leaves out what was compacted before a change, and nothing else of the run", async () => {
  const { agent, compactedAt } = await readBook();
  const step = compactedAt + 1;

  const changed = agent.fork("book", step, { outcomes: { [`${step}.0`]: { status: "ok", output: "Empty" } } });
  const { messages } = await changed.result;

  expect(JSON.stringify(messages)).toContain("This is a summary of earlier messages");
  expect(await agent.replay(changed.id)).toMatchObject({ status: "same" });
});

test("fork() refuses the id of a run that is there, and leaves that as it is", async () => {
  const { agent, store } = await readBook();
  const other = agent.run("Read another book", { id: "other", onEvent: () => other.stop() });
  await other.result;
  const lines = await store.log.position("run:other");

  const fork = agent.fork("book", 1, { id: "other" });

  await expect(fork).rejects.toThrow('Cannot use "changes.id": found "other", expected an id that no run has');
  expect(await store.log.position("run:other")).toBe(lines);
});

test("fork() leaves no half of a run if the store goes away in the middle", async () => {
  const { store } = await readBook();
  const append: Store["log"]["append"] = async (stream, values, options) => {
    if (!JSON.stringify(values).includes('"step-outcome"')) return store.log.append(stream, values, options);
    throw new KitbagError("store-unavailable", { store: "s", reason: "away", cure: "wait", mayBeWritten: false });
  };
  const away = { ...store, log: { ...store.log, append } };
  const agent = createAgent({ model: mockModel([]), store: away, workspace: createWorkspace() });

  await expect(agent.fork("book", 1)).rejects.toMatchObject({ code: "store-unavailable" });

  expect((await createRuns({ store }).list()).map(({ id }) => id)).toEqual(["book"]);
});

test("fork() takes out of what is changed what the model must not see", async () => {
  const { agent, model } = await readBook({ redactInput: true });

  await agent.fork("book", 1, { say: "Write to ada@example.com" }).result;
  await agent.fork("book", 0, { messages: [user("Write to bob@example.com")] }).result;

  expect(JSON.stringify(model.asked)).toContain("Write to [email]");
  expect(JSON.stringify(model.asked)).not.toContain("@example.com");
});

test("fork() takes secrets out of changed outcomes and inputs, as a run does", async () => {
  const { agent, model, store } = await readBook({ redactInput: true });
  const token = `ghp_${"a1B2".repeat(9)}`;

  const fork = agent.fork("book", 1, {
    outcomes: { "1.0": { status: "ok", output: "Written by ada@example.com" } },
    inputs: { "1.0": { token } },
  });
  await fork.result;

  const journal = JSON.stringify(await createRuns({ store }).read(fork.id));
  expect(JSON.stringify(model.asked)).toContain("Written by [email]");
  expect(journal).not.toContain("@example.com");
  expect(journal).not.toContain(token);
  expect(journal).toContain("call-changed");
});

test("fork() goes on with a model of another provider, under ids of calls that it takes", async () => {
  const model = mockModel([{ calls: [{ tool: "roll", id: "functions.roll:0" }] }, "Six"]);
  const other = mockModel(["Six again"], { provider: "anthropic.messages", modelId: "m" });
  const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 6 });
  const agent = createAgent({ model, workspace: createWorkspace({ tools: [roll] }), store: memoryStore() });
  await agent.run("Roll", { id: "a" }).result;

  const fork = await agent.fork("a", 1, {}, { model: other }).result;

  const shown = JSON.stringify(other.asked[0]?.prompt);
  expect(fork).toMatchObject({ status: "ok", text: "Six again" });
  expect(shown).not.toContain("functions.roll");
  expect(new Set(shown.match(/call_[\da-f]{24}/gu))).toHaveProperty("size", 1);
  expect(await agent.replay(fork.run)).toMatchObject({ status: "same" });
});

test("fork() costs what was paid up to there, also for an answer that a hook did not want", async () => {
  const usage = { input: 100, output: 0 };
  const model = mockModel(
    [
      { text: "No", usage },
      { text: "Yes", usage },
    ],
    { provider: "acme", modelId: "m" },
  );
  const prices = { "acme/m": { input: 10, output: 10 } };
  const agent = createAgent({ model, workspace: createWorkspace(), store: memoryStore(), prices });
  const afterModel = ({ content: [part] }: ModelAnswered): AnswerVerdict =>
    part?.type === "text" && part.text === "No" ? "again" : undefined;
  await agent.run("Well?", { id: "a", hooks: { afterModel } }).result;

  const fork = await agent.fork("a", 1).result;

  expect(fork).toMatchObject({ status: "ok", text: "Yes", usage: { modelCalls: 2 } });
  expect(fork.cost).toBeCloseTo(0.002, 12);
  expect(await agent.replay(fork.run)).toMatchObject({ status: "same" });
});

test.for<[what: string, changes: unknown, message: string]>([
  [
    "what a call was made with whose outcome is not changed",
    { inputs: { "1.0": { page: 5 } } },
    'Cannot use "changes.inputs": found 1.0, expected a call whose outcome is in "changes.outcomes"',
  ],
  ["a name that is none", { sayy: "Go on" }, 'Cannot use "changes.sayy": found an unknown option, expected "say"'],
  ["a text that is none", { say: 5 }, 'Cannot use "changes.say": found 5, expected a text'],
  ["messages as text", { messages: "Go on" }, "expected a list of messages"],
  [
    "a message that is none",
    { messages: [{ role: "usr", content: [] }] },
    'Cannot use "changes.messages[0].role": found "usr", expected one of system, user, assistant, tool',
  ],
  ["an outcome that is none", { outcomes: { "1.0": 5 } }, 'Cannot use "changes.outcomes[\\"1.0\\"]": found 5'],
])("fork() refuses %s", async ([, changes, message]) => {
  const { agent } = await readBook();

  await expect(agent.fork("book", 1, changes as ForkChanges)).rejects.toThrow(message);
});

test.for(["id", "conversation", "skills", "images"])(
  "fork() and resume() refuse another %s than that of the run",
  async (name) => {
    const { agent } = await readBook();
    const options = { [name]: name === "id" || name === "conversation" ? "other" : ["other"] };

    const resumed = await agent.resume("book", options).result;

    await expect(agent.fork("book", 0, {}, options as never)).rejects.toThrow(`Cannot use "${name}"`);
    expect(resumed.error?.message).toContain("a run that goes on, or a fork, keeps its own");
  },
);

interface Book {
  readonly agent: Agent;
  readonly model: MockModel;
  readonly store: Store;
  readonly compactedAt: number;
}

/** A run, kept as "book", of twelve calls, with a compaction on the way. */
async function readBook(more: Partial<AgentOptions> = {}): Promise<Book> {
  let page = 0;
  const model = mockModel(() => (++page > 12 ? "Read" : { calls: [{ tool: "read", input: { page } }] }));
  const read = defineTool({
    name: "read",
    description: "Reads a page",
    input: { type: "object", properties: { page: { type: "number" } } },
    run: ({ page: number }) => `Page ${String(number)}. ${"It says this and that. ".repeat(20)}`,
  });
  const workspace = createWorkspace({ tools: [read] });
  const store = memoryStore();
  const agent = createAgent({ model, workspace, store, memory: { maxTokens: 1200 }, ...more });
  let compactedAt = 0;
  await agent.run("Read the book", {
    id: "book",
    onEvent: (event) => {
      if (event.type === "memory-compacted") compactedAt ||= event.step;
    },
  }).result;
  return { agent, model, store, compactedAt };
}

function user(text: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text }] };
}
