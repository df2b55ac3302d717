import { expect, test } from "vitest";

import { createTool, defineTool } from "../../core/define-tool.ts";
import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Runtime } from "../../core/runtime.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import { createWorkspace } from "../create-workspace.ts";
import { createBatchTool } from "./batch-dispatch.ts";
import type { DispatchTool } from "./dispatch-tool.ts";

test("call_tools makes all calls at once and answers in the order they were given", async () => {
  const second = Promise.withResolvers<string>();
  const tools = [
    defineTool({ name: "first", description: "Waits for the second", run: () => second.promise }),
    defineTool({ name: "second", description: "Ends at once", run: () => second.resolve("first was waiting") }),
  ];
  const batch = createBatchTool(createWorkspace({ tools }).openSession());

  const outcome = await batch.run({ calls: [{ name: "first" }, { name: "second" }] });

  expect(outcome).toEqual({
    status: "ok",
    output: {
      results: [
        { name: "first", status: "ok", output: "first was waiting" },
        { name: "second", status: "ok", output: null },
      ],
      failed: 0,
    },
  });
});

test("call_tools makes one call after the other if that is asked for", async () => {
  const { batch, begun } = setUp();

  await batch.run({
    order: "sequence",
    calls: [
      { name: "wait", input: { ms: 20, text: "slow" } },
      { name: "wait", input: { ms: 0, text: "fast" } },
    ],
  });

  expect(begun).toEqual(["+slow", "-slow", "+fast", "-fast"]);
});

test("call_tools lets the others go on when one fails, and says why", async () => {
  const { batch } = setUp();

  const outcome = await batch.run({ calls: [{ name: "wiat" }, { name: "fail" }, { name: "wait" }] });

  expect(outcome).toMatchObject({
    output: {
      results: [
        { name: "wiat", status: "failed", code: "tool-not-found", message: expect.stringContaining("wait") as string },
        { name: "fail", status: "failed", code: "tool-failed" },
        { name: "wait", status: "ok", output: "done" },
      ],
      failed: 2,
    },
  });
});

test("call_tools leaves out what is behind a failure if that is asked for", async () => {
  const { batch, begun } = setUp();
  const calls = [{ name: "wait" }, { name: "fail" }, { name: "wait" }];

  const stopped = await batch.run({ order: "sequence", stopOnFailure: true, calls });
  const all = await batch.run({ order: "sequence", calls });

  expect(statusesOf(stopped)).toEqual(["ok", "failed", "skipped"]);
  expect(statusesOf(all)).toEqual(["ok", "failed", "ok"]);
  expect(begun.filter((line) => line.startsWith("+"))).toHaveLength(3);
});

test("call_tools refuses no calls, more than a hundred, and calls without a name", async () => {
  const { batch } = setUp();
  const inputs = [
    {},
    { calls: [] },
    { calls: Array.from({ length: 101 }, () => ({ name: "wait" })) },
    { calls: [{ input: {} }] },
  ];

  for (const input of inputs) {
    expect(await batch.run(input)).toMatchObject({ error: { code: "input-invalid", details: { tool: "call_tools" } } });
  }
});

test("call_tools ends when the caller cancels", async () => {
  const { batch } = setUp();
  const stop = new AbortController();

  const running = batch.run({ calls: [{ name: "wait", input: { ms: 10_000 } }] }, { signal: stop.signal });
  stop.abort();

  expect(await running).toMatchObject({ output: { results: [{ status: "failed", code: "call-cancelled" }] } });
});

test("call_tools says where the whole of an output is that was too large", async () => {
  const large = defineTool({ name: "large", description: "Gives much", run: () => "x".repeat(5000) });
  const workspace = createWorkspace({ tools: [large], limits: { maxOutputBytes: 1000 } });

  const outcome = await createBatchTool(workspace.openSession()).run({ calls: [{ name: "large" }] });

  const capped = { handle: expect.any(String) as string, bytes: 5000 };
  expect(outcome).toMatchObject({ output: { results: [{ status: "ok", capped }] } });
});

test("call_tools declares what it answers with", async () => {
  const { batch } = setUp();
  const calls = [{ name: "wait" }, { name: "fail" }, { name: "wait" }];

  const outcome = await batch.run({ order: "sequence", stopOnFailure: true, calls });

  expect(checkStrictly(batch.outputSchema ?? {}, (outcome as { output: JsonValue }).output)).toEqual([]);
  expect(checkStrictly(batch.outputSchema ?? {}, { results: [{ name: "wait" }], failed: 0 })).not.toEqual([]);
});

test("call_tools lists the files that each tool wrote", async () => {
  const files = [{ path: "a.txt", bytes: 1 }];
  const runtime: Runtime = {
    kind: "made-up",
    findFiles: () => [],
    async run(_tool, _input, context) {
      await context.files?.add({ path: "a.txt", bytes: 1 });
      return "done";
    },
  };
  const parts = { name: "write", description: "Writes", input: { type: "object" }, code: { kind: "made-up" } };
  const tool = createTool(parts);
  const workspace = createWorkspace({ tools: [tool], runtimes: [runtime] });
  const batch = createBatchTool(workspace.openSession());

  const outcome = await batch.run({ calls: [{ name: "write", input: {} }] });

  expect(outcome).toMatchObject({ output: { results: [{ name: "write", status: "ok", files }] } });
});

function statusesOf(outcome: ToolOutcome): string[] {
  const { output } = outcome as unknown as { output: { results: { status: string }[] } };
  return output.results.map(({ status }) => status);
}

function setUp(): { batch: DispatchTool; begun: string[] } {
  const begun: string[] = [];
  const wait = defineTool({
    name: "wait",
    description: "Waits and answers with a text",
    input: {
      type: "object",
      properties: { ms: { type: "number", default: 0 }, text: { type: "string", default: "done" } },
    },
    async run({ ms, text }, { signal }) {
      begun.push(`+${String(text)}`);
      await new Promise((resolve) => {
        setTimeout(resolve, Number(ms));
        signal.addEventListener("abort", resolve);
      });
      begun.push(`-${String(text)}`);
      return text ?? null;
    },
  });
  const fail = defineTool({
    name: "fail",
    description: "Fails",
    run() {
      throw new Error("no");
    },
  });
  return { batch: createBatchTool(createWorkspace({ tools: [wait, fail] }).openSession()), begun };
}
