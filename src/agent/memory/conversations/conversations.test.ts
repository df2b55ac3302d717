import { expect, test, vi } from "vitest";

import { answer, call, checkConversation, results, tokensOf, user } from "../../../../test/support/conversations.ts";
import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { KitbagError } from "../../../core/errors.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { Store } from "../../../core/store.ts";
import type { ModelCall, ModelMessage } from "../../../models/model.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { type MockAnswer, mockModel, type MockModel } from "../../../testing/models/mock-model.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import type { Agent } from "../../agent-interface.ts";
import type { AgentOptions } from "../../agent-options.ts";
import { createAgent } from "../../create-agent.ts";
import type { AgentEvent } from "../../events.ts";
import { textOfMessage } from "../message-text.ts";
import { closeCalls, openConversation } from "./open-conversation.ts";
import { deleteConversation, listConversations, readConversation } from "./read-conversation.ts";

test("run() goes on with a conversation, in another process if need be", async () => {
  const world = createWorld();
  await world.agent.run("My name is Ada", { conversation: "c" }).result;

  const started: AgentEvent[] = [];
  await world.restarted().run("Who am I?", { conversation: "c", onEvent: (event) => started.push(event) }).result;

  expect(textsOf(world.model.asked[1]?.prompt)).toEqual(["My name is Ada", "Heard 1", "Who am I?"]);
  expect(started[0]).toMatchObject({ type: "task-start", conversation: "c", earlier: 2, messages: { length: 3 } });
});

test("run() does not mix conversations, nor runs without one", async () => {
  const { agent, model } = createWorld();
  await agent.run("In a", { conversation: "a" }).result;
  await agent.run("In none").result;

  await agent.run("In b", { conversation: "a:b" }).result;

  expect(model.asked.map(({ prompt }) => textsOf(prompt))).toEqual([["In a"], ["In none"], ["In b"]]);
});

test("run() opens the skills again that were open in the conversation", async () => {
  const world = createWorld();
  await world.agent.run("Open the skill", { conversation: "c" }).result;

  const result = await world.restarted().run("Use the skill", { conversation: "c" }).result;

  expect(result.status).toBe("ok");
  expect(JSON.stringify(result.messages)).toContain("from the skill");
});

test("run() does without a skill of the conversation that is gone", async () => {
  const world = createWorld();
  await world.agent.run("Open the skill", { conversation: "c" }).result;

  const without = createAgent({ model: world.model, store: world.store, workspace: createWorkspace() });

  expect(await without.run("Hello", { conversation: "c" }).result).toMatchObject({ status: "ok" });
});

test.for(["", 7, null, "x".repeat(2000), "a\0b"])("run() refuses the conversation %j", async (conversation) => {
  const result = await createWorld().agent.run("Hello", { conversation: conversation as string }).result;

  expect(result).toMatchObject({
    status: "failed",
    error: { code: expect.stringMatching(/^(option-invalid|store-key-invalid)$/u) },
  });
});

test("run() with a conversation needs a store", async () => {
  const agent = createAgent({ model: mockModel(["Hello"]), workspace: createWorkspace() });

  expect(await agent.run("Hello", { conversation: "c" }).result).toMatchObject({
    status: "failed",
    error: { code: "option-invalid", details: { option: "store" } },
  });
});

test("two runs at once on one conversation are both kept, in the order in which they ended", async () => {
  const { agent, store } = createWorld();
  let release = (): void => undefined;
  const held = new Promise<undefined>((resolve) => (release = () => resolve(undefined)));

  const slow = agent.run("Slow", { conversation: "c", hooks: { beforeModel: () => held } });
  await agent.run("Quick", { conversation: "c" }).result;
  release();
  await slow.result;

  const kept = await readConversation(store, "c");
  expect(textsOf(kept?.messages)).toEqual(["Quick", "Heard 1", "Slow", "Heard 1"]);
});

test("many runs that end at the same time are all kept, once each", async () => {
  const { agent, store } = createWorld();

  await Promise.all(
    Array.from({ length: 20 }, async (_, index) => agent.run(`Number ${index}`, { conversation: "c" }).result),
  );

  const kept = await readConversation(store, "c");
  expect(kept?.runs).toHaveLength(20);
  expect(new Set(textsOf(kept?.messages).filter((text) => text.startsWith("Number"))).size).toBe(20);
  expect(kept?.messages).toHaveLength(40);
});

test("a run that is paused is kept as far as it came, and as a whole when it was resumed", async () => {
  const world = createWorld();
  const paused = await world.agent.run("Drop it", { conversation: "c" }).result;
  const before = await readConversation(world.store, "c");
  const asked = await world.agent.run("What now?", { conversation: "c" }).result;
  await world.agent.decide(paused.approvals?.[0] ?? "", { decision: "approve" });
  await world.restarted().resume(paused.run).result;

  const after = await readConversation(world.store, "c");

  expect(before?.runs).toMatchObject([{ status: "paused", messages: { length: 2 } }]);
  expect(checkConversation(asked.messages)).toEqual([]);
  expect(JSON.stringify(asked.messages)).toContain("The outcome of this call is unknown");
  expect(after?.runs.map(({ run, status }) => [run, status])).toEqual([
    [asked.run, "ok"],
    [paused.run, "ok"],
  ]);
  expect(textsOf(after?.messages)).toEqual(["What now?", expect.any(String), "Drop it", "", "", "Dropped"]);
});

test("a run is kept once when its process dies before it has ended, and when it dies after", async () => {
  for (const point of ["conversation", "run-end"] as const) {
    const world = createWorld();
    const dying = createAgent({ ...world.options(), store: breakAt(world.store, point) });
    const died = await dying.run("Hello", { conversation: "c", id: "r" }).result;

    const resumed = await vi.waitFor(async () => {
      const result = await world.restarted().resume("r").result;
      expect(result.error?.code).not.toBe("run-leased");
      return result;
    });

    expect(died.status).toBe("failed");
    expect(resumed).toMatchObject({ status: "ok", text: "Heard 1" });
    expect(textsOf((await readConversation(world.store, "c"))?.messages)).toEqual(["Hello", "Heard 1"]);
  }
});

test("a run that failed or was stopped is kept too: it was said", async () => {
  const { agent, store } = createWorld();

  await agent.run("Fail", { conversation: "c" }).result;
  await agent.run("Stop", { conversation: "c", signal: AbortSignal.abort() }).result;
  await agent.run("Hello", { conversation: "c" }).result;

  const kept = await readConversation(store, "c");
  expect(kept?.runs.map(({ status }) => status)).toEqual(["failed", "stopped", "ok"]);
  expect(textsOf(kept?.messages)).toEqual(["Fail", "Stop", "Hello", "Heard 3"]);
});

test("a fork of a run goes its own way, and is not in the conversation", async () => {
  const { agent, store } = createWorld();
  const { run } = await agent.run("Hello", { conversation: "c" }).result;

  const fork = agent.fork(run, 0, { messages: [user("Other")] });
  await fork.result;

  expect((await readConversation(store, "c"))?.runs).toHaveLength(1);
});

test("a conversation that is longer than the window is kept whole and shown within it", async () => {
  const { agent, model, store } = createWorld({ memory: { maxTokens: 800 } });

  for (let turn = 0; turn < 60; turn++) {
    await agent.run(`Turn ${turn}: ${"what about this and that ".repeat(4)}`, { conversation: "c" }).result;
  }

  const kept = await readConversation(store, "c");
  const opened = await openConversation(store, "c");
  expect(kept?.messages).toHaveLength(120);
  expect(textsOf(kept?.messages)[0]).toMatch(/^Turn 0:/u);
  expect(JSON.stringify(kept?.messages)).not.toContain("are left out here");
  for (const { prompt: given } of model.asked) {
    const prompt = given.filter(({ role }) => role !== "system");
    expect(tokensOf(prompt)).toBeLessThanOrEqual(800);
    expect(checkConversation(prompt)).toEqual([]);
  }
  // What is loaded does not grow with the conversation.
  expect(tokensOf(opened.messages)).toBeLessThan(1000);
});

test("a run that did not see what another said meanwhile does not hide it from the next one", async () => {
  const { agent, store, model } = createWorld({ memory: { maxTokens: 800 } });
  for (let turn = 0; turn < 15; turn++) {
    await agent.run(`Turn ${turn}: ${"what about this and that ".repeat(4)}`, { conversation: "c" }).result;
  }
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));

  const slow = agent.run(`Slow ${"and long ".repeat(250)}`, { conversation: "c", hooks: { afterModel: () => held } });
  await agent.run("The secret word is marzipan", { conversation: "c" }).result;
  release();
  await slow.result;
  await agent.run("What is the word?", { conversation: "c" }).result;

  expect(JSON.stringify(model.asked.at(-1)?.prompt)).toContain("marzipan");
  expect((await readConversation(store, "c"))?.runs).toHaveLength(18);
});

test("a resumed run with compactions keeps everything that it said", async () => {
  const world = createWorld({ memory: { maxTokens: 900 } });
  const run = world.agent.run("Count to 30", {
    conversation: "c",
    onEvent: (event) => event.type === "tool-end" && event.step === 20 && run.stop(),
  });
  await run.result;

  await world.restarted().resume(run.id).result;

  const kept = await readConversation(world.store, "c");
  expect(kept?.runs).toMatchObject([{ status: "ok", messages: { length: 62 } }]);
  expect(checkConversation(kept?.messages ?? [])).toEqual([]);
});

test.for<[what: string, prefix: string, value: JsonValue]>([
  ["whose list of runs is gone", "conversation:", {}],
  ["whose list has what is no run", "conversation:", { title: "x", startedAt: 1, time: 1, runs: [null] }],
  ["that is nothing", "conversation:", null],
  ["of which a part is nothing", "conversation-part:", null],
  ["of which a part has no messages", "conversation-part:", { messages: "x", skills: [] }],
  ["of which a message is none", "conversation-part:", { messages: [{ role: "user" }], skills: [] }],
])("a conversation %s is refused by its name, and can be deleted", async ([, prefix, value]) => {
  const { agent, store } = createWorld();
  await agent.run("Hello", { conversation: "c" }).result;
  await agent.run("Hello", { conversation: "other" }).result;
  const [[key] = [""]] = await store.kv.list({ prefix: `${prefix}c` });
  await store.kv.set(key, value);

  const result = await agent.run("Hello", { conversation: "c" }).result;

  expect(result).toMatchObject({ status: "failed", error: { code: "conversation-damaged" } });
  expect(result.error?.message).toContain('Cannot read the conversation "c": ');
  await expect(readConversation(store, "c")).rejects.toMatchObject({ code: "conversation-damaged" });
  const listed = await listConversations(store);
  expect(listed.map(({ id, isDamaged = false }) => [id, isDamaged])).toEqual([
    ["c", prefix === "conversation:"],
    ["other", false],
  ]);
  expect(await deleteConversation(store, "c")).toBe(true);
  expect(await agent.run("Hello", { conversation: "c" }).result).toMatchObject({ status: "ok" });
});

test("listConversations() lists what is there, page by page", async () => {
  const { agent, store } = createWorld();
  for (const id of ["b", "a", "c:1", "__proto__"]) {
    await agent.run(`Hello from\n${id}  ${"x".repeat(200)}`, { conversation: id }).result;
  }

  const all = await listConversations(store);
  const rest = await listConversations(store, { after: "a", limit: 1 });

  expect(all.map(({ id }) => id)).toEqual(["__proto__", "a", "b", "c:1"]);
  expect(all[1]).toMatchObject({ title: expect.stringMatching(/^Hello from a x{20,}…$/u), runs: 1, messages: 2 });
  expect(all[1]?.title.length).toBeLessThanOrEqual(80);
  expect(rest.map(({ id }) => id)).toEqual(["b"]);
});

test("readConversation() knows nothing of a conversation that is not there", async () => {
  expect(await readConversation(memoryStore(), "c")).toBeUndefined();
});

test("deleteConversation() deletes a conversation and nothing else", async () => {
  const { agent, store } = createWorld();
  for (const id of ["c", "c:d", "cd"]) await agent.run("Hello", { conversation: id }).result;

  const deleted = [await deleteConversation(store, "c"), await deleteConversation(store, "c")];
  await agent.run("Again", { conversation: "c" }).result;

  expect(deleted).toEqual([true, false]);
  expect(textsOf((await readConversation(store, "c"))?.messages)).toEqual(["Again", "Heard 1"]);
  expect(await listConversations(store)).toHaveLength(3);
  expect(textsOf((await readConversation(store, "c:d"))?.messages)).toEqual(["Hello", "Heard 1"]);
});

test("deleteConversation() leaves no message behind", async () => {
  const { agent, store } = createWorld();
  for (let turn = 0; turn < 5; turn++) await agent.run("Hello", { conversation: "c" }).result;

  await deleteConversation(store, "c");

  const left = await store.kv.list({ prefix: "conversation" });
  expect(left).toEqual([]);
});

test("files come back as they were said", async () => {
  const { agent, model } = createWorld();
  const file: ModelMessage = {
    role: "user",
    content: [
      { type: "text", text: "Look" },
      { type: "file", mediaType: "text/plain", data: { type: "data", data: new Uint8Array([97, 98, 99]) } },
    ],
  };
  await agent.run([file], { conversation: "c" }).result;

  await agent.run("And?", { conversation: "c" }).result;

  expect(model.asked[1]?.prompt.find(({ role }) => role === "user")?.content[1]).toMatchObject({
    type: "file",
    data: { type: "data", data: "YWJj" },
  });
});

test("openConversation() gives calls of runs that did not know of each other ids of their own", async () => {
  const store = memoryStore();
  const [left, right] = await Promise.all([openConversation(store, "c"), openConversation(store, "c")]);
  const said = (text: string): ModelMessage[] => [
    user(text),
    call("a", "look", {}),
    results(["a", text]),
    answer("Done"),
  ];
  for (const [run, kept] of [left, right, left].entries()) {
    const messages = said(`Number ${run}`);
    await kept?.save({ run: `r${run}`, status: "ok", messages, skills: [], view: undefined });
  }

  const { messages } = await openConversation(store, "c");

  expect(messages).toHaveLength(12);
  expect(checkConversation(messages)).toEqual([]);
  expect(messages.slice(0, 4)).toEqual(said("Number 0"));
  expect(JSON.stringify(messages)).toContain('"toolCallId":"a-3"');
});

test("closeCalls() gives results to the last calls that have none, and changes nothing else", () => {
  const whole = [user("Go"), call("a", "look", {}), results(["a", 1]), answer("Done")];
  const partial = [
    user("Go"),
    { ...call("a", "look", {}), content: [toCall("a"), toCall("b")] } as ModelMessage,
    results(["a", 1]),
  ];

  expect(closeCalls(whole)).toBe(whole);
  expect(closeCalls([])).toEqual([]);
  expect(checkConversation(closeCalls(whole.slice(0, 2)))).toEqual([]);
  expect(checkConversation(closeCalls(partial))).toEqual([]);
  expect(closeCalls(partial)).toHaveLength(3);
});

function toCall(toolCallId: string): object {
  return { type: "tool-call", toolCallId, toolName: "look", input: {} };
}

function textsOf(messages: readonly ModelMessage[] = []): readonly string[] {
  return messages.flatMap((message) => (message.role === "system" ? [] : [textOfMessage(message)]));
}

/** A store in which nothing can be written from a certain point on, as if the process had died. */
function breakAt(store: Store, point: "conversation" | "run-end"): Store {
  let isDead = false;
  const guard = (isThere: boolean): void => {
    isDead ||= isThere;
    if (isDead)
      throw new KitbagError("store-unavailable", { store: "test", reason: "it is gone", written: "no" } as never);
  };
  return {
    ...store,
    kv: {
      ...store.kv,
      set: async (key, value, options) => {
        guard(point === "conversation" && key.startsWith("conversation:"));
        return store.kv.set(key, value, options);
      },
    },
    log: {
      ...store.log,
      append: async (stream, values, options) => {
        guard(point === "run-end" && JSON.stringify(values).includes('"run-end"'));
        return store.log.append(stream, values, options);
      },
    },
  };
}

interface World {
  readonly agent: Agent;
  readonly store: Store;
  readonly model: MockModel;
  options(): AgentOptions;
  restarted(): Agent;
}

function createWorld(more: Partial<AgentOptions> = {}): World {
  const store = memoryStore();
  const model = mockModel(createReply());
  const count = defineTool({
    name: "count",
    description: "Counts",
    input: { type: "object", properties: { at: { type: "number" } } },
    run: ({ at }) => `Counted ${String(at)}, ${"so on and ".repeat(8)}`,
  });
  const drop = defineTool({ name: "drop", description: "Drops it", needsApproval: true, run: () => "Gone" });
  const extra = defineSkill({
    name: "extra",
    description: "Tells more",
    workDirection: "Call extra/tell.",
    tools: [defineTool({ name: "tell", description: "Tells", run: () => "from the skill" })],
  });
  const options = (): AgentOptions => ({
    model,
    store,
    retries: false,
    // So that a run can be gone on with at once after its process has died.
    leaseMs: 100,
    workspace: createWorkspace({ tools: [count, drop], skills: [extra] }),
    ...more,
  });
  const restarted = (): Agent => createAgent(options());
  return { agent: restarted(), store, model, options, restarted };
}

/** Looks at the last message of the user, and at what came behind it. */
function createReply(): (call: ModelCall) => MockAnswer {
  let counted = 0;
  return ({ prompt }) => {
    const users = prompt.filter((message) => message.role === "user");
    const last = textOfMessage(users.at(-1) ?? { content: "" });
    const behind = prompt.length - 1 - prompt.findLastIndex((message) => message.role === "user");
    if (last === "Fail") return { error: new Error("down") };
    if (last === "Open the skill" && behind === 0) {
      return { calls: [{ tool: "activate_skill", input: { name: "extra" } }] };
    }
    if (last === "Use the skill" && behind === 0) return { calls: [{ tool: "extra__tell" }] };
    if (last === "Drop it") return behind === 0 ? { calls: [{ tool: "drop" }] } : "Dropped";
    if (!JSON.stringify(prompt).includes("Count to 30")) return `Heard ${users.length}`;
    counted += 1;
    return counted > 30 ? "Counted" : { calls: [{ tool: "count", input: { at: counted } }] };
  };
}
