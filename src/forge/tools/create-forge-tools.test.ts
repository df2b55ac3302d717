import { afterAll, expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { toFailure } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { ForgeOptions } from "../forge-interface.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { countWords, openTestForge, openTestRuntimes, type TestForge } from "../../../test/support/open-test-forge.ts";
import { createForgeTools } from "./create-forge-tools.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test("createForgeTools() makes these tools, each with schemas, annotations and words", async () => {
  const { workspace } = await openWithTools();

  const tools = workspace.getAvailableTools().map(({ tool }) => tool);

  expect(tools.map(({ name }) => name)).toEqual([
    "create_tool",
    "update_tool",
    "create_pipeline",
    "create_skill",
    "test_tool",
    "list_versions",
    "rollback_tool",
    "delete_tool",
    "delete_skill",
    "tool_state",
  ]);
  expect(tools.every(({ outputSchema, title, description }) => outputSchema && title && description)).toBe(true);
  expect(tools.find(({ name }) => name === "list_versions")?.annotations).toEqual({ readOnly: true, idempotent: true });
  for (const name of ["delete_tool", "delete_skill"])
    expect(tools.find((tool) => tool.name === name)?.annotations.destructive).toBe(true);
});

test("create_tool makes the tool that its own description shows, and it can be called at once", async (context) => {
  needProgram(context, "python3");
  const { workspace } = await openWithTools();
  const description = workspace.getTool("create_tool")?.tool.description ?? "";
  const example = JSON.parse(/\{"name".*\]\}/su.exec(description)?.[0] ?? "") as object;

  const outcome = await workspace.call("create_tool", example);
  const called = await workspace.call("count-words", { text: "a b c" });

  expect(outcome).toMatchObject({
    status: "ok",
    output: { status: "live", name: "count-words", wireName: "count-words", version: "1.0.0", examplesPassed: 1 },
  });
  expect(called).toMatchObject({ status: "ok", output: { words: 3 } });
});

test("create_tool fails with what to change when a draft does not pass: it does not look like success", async () => {
  const { workspace } = await openWithTools();

  const refused = await workspace.call("create_tool", { ...countWords, code: 'import "nothing_at_all";\n' });
  const wrong = await workspace.call("create_tool", { ...countWords, descripton: "x" });
  const without = await workspace.call("create_tool", { ...countWords, examples: [] });

  expect(refused).toMatchObject({ status: "failed", error: { code: "draft-refused" } });
  expect(messageOf(refused)).toContain("Cannot find package 'nothing_at_all'");
  expect(messageOf(wrong)).toContain('did you mean "description"');
  expect(messageOf(without)).toContain("give at least one");
  expect(workspace.getTool("count-words")).toBeUndefined();
});

test("create_tool says that a draft waits when it asks for more than the policy grants", async () => {
  const { workspace, forge } = await openWithTools();

  const outcome = await workspace.call("create_tool", { ...countWords, permissions: { network: ["api.example.com"] } });

  expect(outcome).toMatchObject({
    status: "ok",
    output: { status: "waiting", id: forge.listWaiting()[0]?.id, asks: { network: ["api.example.com"] } },
  });
  expect(workspace.getTool("count-words")).toBeUndefined();
});

test("update_tool, list_versions, rollback_tool, test_tool and delete_tool lead through the life of a tool", async () => {
  const { workspace } = await openWithTools();
  await workspace.call("create_tool", countWords);

  const updated = await workspace.call("update_tool", {
    name: "count-words",
    changes: { code: countWords.code.replace("words.length", "text.split(' ').length"), title: "Words" },
    expectedVersion: "1.0.0",
  });
  const stale = await workspace.call("update_tool", {
    name: "count-words",
    changes: { title: null },
    expectedVersion: "1.0.0",
  });
  const listed = await workspace.call("list_versions", { name: "count-words", version: "1.0.0" });
  const rolledBack = await workspace.call("rollback_tool", { name: "count-words", version: "1.0.0" });
  const tested = await workspace.call("test_tool", { name: "count-words", version: "1.0.1" });
  const deleted = await workspace.call("delete_tool", { name: "count-words" });
  const gone = workspace.getTool("count-words");
  const undone = await workspace.call("delete_tool", { name: "count-words", undo: true });
  const all = await workspace.call("list_versions", {});

  expect(updated).toMatchObject({ status: "ok", output: { version: "1.0.1", change: { step: "patch" } } });
  expect(stale).toMatchObject({ status: "failed", error: { code: "version-conflict" } });
  expect(listed).toMatchObject({
    status: "ok",
    output: { versions: [{ version: "1.0.0" }, { version: "1.0.1", current: true }], draft: { code: countWords.code } },
  });
  expect(rolledBack).toMatchObject({ status: "ok", output: { version: "1.0.0" } });
  expect(tested).toMatchObject({ status: "ok", output: { version: "1.0.1", passed: true } });
  expect(deleted).toMatchObject({ status: "ok", output: { status: "deleted", version: "1.0.0" } });
  expect(gone).toBeUndefined();
  expect(undone).toMatchObject({ status: "ok", output: { status: "live", version: "1.0.0" } });
  expect(all).toMatchObject({ status: "ok", output: { tools: [{ name: "count-words", status: "live" }] } });
});

test("test_tool fails when an example does not pass any more", async () => {
  const { workspace, forge } = await openWithTools();
  const words = defineTool({ name: "words", description: "Gives words", run: () => "first" });
  workspace.add(words);
  await forge.createPipeline({
    name: "relay",
    description: "Hands on words",
    steps: [{ id: "a", tool: "words" }],
    examples: [{ input: {}, output: "first" }],
  });
  workspace.replace(defineTool({ name: "words", description: "Gives words", run: () => "second" }));

  const outcome = await workspace.call("test_tool", { name: "relay" });
  const missing = await workspace.call("test_tool", { name: "relay", version: "9.9.9" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "draft-refused" } });
  expect(messageOf(outcome)).toContain('expected: "first"\n  got: "second"');
  expect(missing).toMatchObject({ status: "failed", error: { code: "version-not-found" } });
});

test("create_tool lets no tool that is only tried make others", async () => {
  const { workspace } = await openWithTools();
  const inner = JSON.stringify(countWords);

  const outcome = await workspace.call("create_tool", {
    name: "maker",
    description: "Makes a tool",
    language: "javascript",
    code: `import { call } from "kitbag";\nconsole.log(await call("create_tool", ${inner}));\n`,
    examples: [{ input: {} }],
  });

  expect(outcome.status).toBe("failed");
  expect(messageOf(outcome)).toContain('Cannot call "create_tool" from "maker"');
  expect(workspace.getTool("count-words")).toBeUndefined();
});

test("create_pipeline and create_skill make what their descriptions say", async () => {
  const { workspace } = await openWithTools({ policy: { uses: ["count-words"] } });
  await workspace.call("create_tool", countWords);
  const description = workspace.getTool("create_pipeline")?.tool.description ?? "";
  const example = JSON.parse(/\{"name".*\]\}/su.exec(description)?.[0] ?? "") as object;

  const pipeline = await workspace.call("create_pipeline", example);
  const skill = await workspace.call("create_skill", {
    name: "texts",
    description: "Works on texts",
    instructions: "Count words with count-words.",
    uses: ["count-words"],
    tools: [{ ...countWords, name: "count-more" }],
  });

  expect(pipeline).toMatchObject({ status: "ok", output: { status: "live", name: "report" } });
  expect(await workspace.call("report", { text: "a b c" })).toMatchObject({ output: { text: "There are 3 words" } });
  expect(skill).toMatchObject({ status: "ok", output: { status: "live", tools: ["texts/count-more"] } });
});

test("tool_state is for those who may call the tool", async () => {
  const { workspace } = await openWithTools();
  await workspace.call("create_tool", countWords);
  const refuse: NonNullable<CallOptions["refuse"]> = ({ address }) =>
    address === "count-words" ? toFailure("scope-missing", { tool: address, scopes: ["tools:call"] }) : undefined;
  const input = { action: "set", tool: "count-words", key: "a", value: 1 };

  expect(await workspace.call("tool_state", input, { refuse })).toMatchObject({ error: { code: "scope-missing" } });
  expect(await workspace.call("tool_state", { ...input, action: "get" })).toMatchObject({ output: { found: false } });
});

test("tool_state gets, sets, lists and deletes what a tool keeps", async () => {
  const { workspace } = await openWithTools();
  await workspace.call("create_tool", countWords);
  const state = (input: object): Promise<ToolOutcome> =>
    workspace.call("tool_state", { tool: "count-words", ...input });

  const outcomes = [
    await state({ action: "set", key: "a", value: { n: 1 } }),
    await state({ action: "get", key: "a" }),
    await state({ action: "list", prefix: "a" }),
    await state({ action: "delete", key: "a" }),
    await state({ action: "get", key: "a" }),
  ];
  const wrong = [
    await state({ action: "get" }),
    await state({ action: "set", key: "a" }),
    await workspace.call("tool_state", { action: "list", tool: "nobody" }),
  ];

  expect(outcomes.map((outcome) => (outcome.status === "ok" ? outcome.output : outcome.error))).toEqual([
    { key: "a", version: 1 },
    { key: "a", found: true, value: { n: 1 } },
    { entries: [{ key: "a", value: { n: 1 } }] },
    { key: "a", deleted: true },
    { key: "a", found: false },
  ]);
  expect(wrong.map((outcome) => outcome.status === "failed" && outcome.error.code)).toEqual([
    "input-invalid",
    "input-invalid",
    "tool-not-found",
  ]);
});

async function openWithTools(options: Partial<ForgeOptions> = {}): Promise<TestForge & { workspace: Workspace }> {
  const opened = await openTestForge(runtimes, options);
  for (const tool of createForgeTools(opened.forge)) opened.workspace.add(tool);
  return opened;
}

function messageOf(outcome: ToolOutcome): string {
  return outcome.status === "failed" ? outcome.error.message : "";
}
