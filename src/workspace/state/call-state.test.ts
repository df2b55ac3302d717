import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { ToolContext, Tool } from "../../core/tool.ts";
import { pipeline } from "../../runtimes/pipeline/pipeline.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Workspace } from "../workspace.ts";

test("a tool finds in its state what an earlier call of the same user kept, and nothing of other users", async () => {
  const workspace = createWorkspace({ tools: [counter("count")] });
  const callAs = (user: string): Promise<unknown> => workspace.call("count", {}, { user });

  await callAs("ada");

  expect(await callAs("bob")).toEqual({ status: "ok", output: 1 });
  expect(await callAs("ada")).toEqual({ status: "ok", output: 2 });
});

test("the tools of one skill share its state for one user only", async () => {
  const skill = defineSkill({ name: "left", description: "Counts", tools: [sharedCounter("a"), sharedCounter("b")] });
  const workspace = createWorkspace({ skills: [skill] });
  await workspace.activateSkill("left");
  const callAs = (tool: string, user: string): Promise<unknown> => workspace.call(tool, {}, { user });

  await callAs("left/a", "ada");

  expect(await callAs("left/b", "ada")).toEqual({ status: "ok", output: 2 });
  expect(await callAs("left/b", "bob")).toEqual({ status: "ok", output: 1 });
});

test("what was kept without a user is the local user's, by each of their names", async () => {
  const store = memoryStore();
  await store.kv.set("state:tool:count:count", 5);
  const workspace = createWorkspace({ tools: [counter("count")], store, localUser: "ada" });

  const outcomes = [
    await workspace.call("count"),
    await workspace.call("count", {}, { user: "local" }),
    await workspace.call("count", {}, { user: "ada" }),
    await workspace.call("count", {}, { user: "bob" }),
  ];

  expect(outcomes.map((outcome) => outcome.status === "ok" && outcome.output)).toEqual([6, 7, 8, 1]);
});

test.for([
  ["a/b", "a:b"],
  ["a:tool:count", "a"],
  ["nul\0", "nul"],
  ["x".repeat(10_000), `${"x".repeat(9_999)}y`],
  // The second has a Cyrillic letter.
  ["ada", "\u0430da"],
  ["\ud800", "\ud801"],
  ["Local", "LOCAL"],
  ["~", ""],
])("users %j and %j have states of their own", async ([one, other]) => {
  const workspace = createWorkspace({ tools: [counter("count")] });
  const callAs = (user: string): Promise<unknown> => workspace.call("count", {}, { user });

  await callAs(one as string);

  expect(await callAs(other as string)).toEqual({ status: "ok", output: 1 });
  expect(await callAs(one as string)).toEqual({ status: "ok", output: 2 });
});

test("a tool learns from its context who called the outermost tool", async () => {
  const who = defineTool({ name: "who", description: "Names the user", run: (_input, { user }) => user ?? "" });
  const ask = defineTool({ name: "ask", description: "Asks who", run: async (_input, { call }) => call("who") });
  const workspace = createWorkspace({ tools: [who, ask] });

  const outcome = await workspace.call("ask", {}, { user: "ada" });

  expect(outcome).toMatchObject({ status: "ok", output: { status: "ok", output: "ada" } });
  expect(await workspace.call("who")).toMatchObject({ output: "" });
});

test("what a tool keeps is in the workspace's store, and outlives the workspace", async () => {
  const store = memoryStore();

  await createWorkspace({ tools: [counter("count")], store }).call("count");
  const outcome = await createWorkspace({ tools: [counter("count")], store }).call("count");

  expect(outcome).toEqual({ status: "ok", output: 2 });
  expect((await store.kv.get("state:tool:count:count"))?.value).toBe(2);
});

test("two workspaces without a store share nothing", async () => {
  await createWorkspace({ tools: [counter("count")] }).call("count");

  expect(await createWorkspace({ tools: [counter("count")] }).call("count")).toEqual({ status: "ok", output: 1 });
});

test("a tool sees nothing of what other tools keep", async () => {
  const workspace = createWorkspace({
    tools: [counter("count"), counter("other")],
    components: [
      { name: "one", tools: [counter("count")] },
      { name: "two", tools: [counter("count")] },
    ],
  });

  const outputs = await callAll(workspace, ["count", "other", "one/count", "two/count"]);

  expect(outputs).toEqual([1, 1, 1, 1]);
});

test("the tools of one skill share its state, and nobody else sees it", async () => {
  const tools = [sharedCounter("first"), sharedCounter("second")];
  const skill = (name: string) => defineSkill({ name, description: "Counts", tools });
  const workspace = createWorkspace({
    skills: [skill("left"), skill("right")],
    components: [{ name: "part", tools }],
  });
  await workspace.activateSkill("left");
  await workspace.activateSkill("right");

  const outputs = await callAll(workspace, [
    "left/first",
    "left/second",
    "left/first",
    "right/first",
    "part/first",
    "part/second",
  ]);

  expect(outputs).toEqual([1, 2, 3, 1, 1, 2]);
});

test("the state of a skill is not that of a tool of the same name", async () => {
  const own = counter("x");
  const shared = sharedCounter("y");
  const workspace = createWorkspace({ tools: [counter("a")], components: [{ name: "a", tools: [own, shared] }] });

  expect(await callAll(workspace, ["a", "a/x", "a/y"])).toEqual([1, 1, 1]);
});

test("a tool of the workspace itself shares with nobody: its skill's state is its own", async () => {
  const workspace = createWorkspace({ tools: [sharedCounter("one"), sharedCounter("two"), both()] });

  expect(await callAll(workspace, ["one", "two", "both"])).toEqual([1, 1, "the same"]);
});

test("a part of a composed tool has a state of its own, and not that of a tool with the same address", async () => {
  const store = memoryStore();
  const part = counter("b");
  const workspace = createWorkspace({
    tools: [pipeline({ name: "a", description: "Counts", steps: [part] })],
    components: [{ name: "a", tools: [counter("b")] }],
    store,
  });

  const outputs = await callAll(workspace, ["a/b", "a", "a"]);

  expect(outputs).toEqual([1, 1, 2]);
  expect((await store.kv.list({ prefix: "state:" })).map(([key]) => key)).toEqual([
    "state:part:a/b:count",
    "state:tool:a/b:count",
  ]);
});

test("100 calls at once count right", async () => {
  const workspace = createWorkspace({ tools: [counter("count")] });

  await Promise.all(Array.from({ length: 100 }, () => workspace.call("count")));

  expect(await workspace.call("count")).toEqual({ status: "ok", output: 101 });
});

test("a state does nothing any more when its call is over", async () => {
  let kept: ToolContext | undefined;
  const workspace = createWorkspace({ tools: [tool("keep", (context) => (kept = context) && null)] });

  await workspace.call("keep");

  await expect(kept?.state.set("late", 1)).rejects.toMatchObject({
    code: "call-cancelled",
    details: { tool: "keep", reason: "the call is over" },
  });
});

test("a state does nothing any more when its call must stop, and says why", async () => {
  let late: Promise<unknown> | undefined;
  const wait = tool("wait", async ({ signal, state }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    late = state.set("late", 1);
    await late;
  });
  const workspace = createWorkspace({ tools: [wait] });

  const outcome = await workspace.call("wait", {}, { limitMs: 20 });

  expect(outcome).toMatchObject({ error: { code: "call-timeout" } });
  await expect(late).rejects.toMatchObject({ code: "call-timeout" });
});

test("what a tool does wrong with its state is the failure of its call, unless it catches it", async () => {
  const workspace = createWorkspace({ tools: [tool("wrong", ({ state }) => state.set("", 1))] });

  const outcome = await workspace.call("wrong");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "state-invalid" } });
  expect(outcome.status === "failed" && outcome.error.message).toMatchInlineSnapshot(
    `"Cannot use the state under "": key: expected a text, found an empty one"`,
  );
});

function tool(name: string, run: (context: ToolContext) => unknown): Tool {
  return defineTool({ name, description: "Keeps something", run: (_input, context) => run(context) });
}

function counter(name: string): Tool {
  return tool(name, ({ state }) => state.update("count", (count = 0) => Number(count) + 1));
}

function sharedCounter(name: string): Tool {
  return tool(name, ({ skillState }) => skillState.update("count", (count = 0) => Number(count) + 1));
}

function both(): Tool {
  return tool("both", async ({ state, skillState }) => {
    await state.set("key", "the same");
    return skillState.get("key");
  });
}

async function callAll(workspace: Workspace, addresses: readonly string[]): Promise<unknown[]> {
  const outputs: unknown[] = [];
  for (const address of addresses) {
    const outcome = await workspace.call(address);
    outputs.push(outcome.status === "ok" ? outcome.output : outcome.error);
  }
  return outputs;
}
