import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod";

import { defineTool } from "../../core/define-tool.ts";
import { isKitbagError, type KitbagError } from "../../core/errors.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentOptions } from "../agent-options.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";
import type { OkRun } from "../run-result.ts";

const pay = defineTool({ name: "pay", description: "Pays", needsApproval: true, run: () => "paid" });

test("a run that is awaited gives its answer, its output and what it used", async () => {
  const agent = createTestAgent(['{"sum": 3}']);

  const run = await agent.run("Add", { output: z.object({ sum: z.number() }) });

  expectTypeOf(run).toEqualTypeOf<OkRun<{ sum: number }>>();
  expect(run).toMatchObject({ text: '{"sum": 3}', output: { sum: 3 }, finishReason: "stop", steps: 1 });
});

test("text() and output() give just that", async () => {
  const agent = createTestAgent(() => '{"sum": 3}');

  const text = await agent.run("Add").text();
  const output = await agent.run("Add", { output: z.object({ sum: z.number() }) }).output();

  expectTypeOf(output).toEqualTypeOf<{ sum: number }>();
  expect([text, output]).toEqual(['{"sum": 3}', { sum: 3 }]);
});

test("a run that is awaited throws the error of a failed run, with the id of the run and its text", async () => {
  const agent = createTestAgent([{ text: "I pay. ", calls: [{ tool: "nothing" }] }, { refused: { status: 401 } }]);

  const cause = await failureOf(agent.run("Pay", { id: "a" }));

  expect(cause).toMatchObject({ code: "model-denied", details: { status: 401, run: "a", text: "I pay. " } });
});

test("text() and output() throw what awaiting the run throws", async () => {
  const run = createTestAgent([{ refused: { status: 401 } }]).run("Go");

  await expect(run.text()).rejects.toMatchObject({ code: "model-denied" });
  await expect(run.output()).rejects.toMatchObject({ code: "model-denied" });
  expect(await run.result).toMatchObject({ status: "failed", error: { code: "model-denied" } });
});

test("a run that was stopped throws run-stopped, with the reason and how to go on", async () => {
  const agent = createTestAgent([{ text: "First. ", calls: [{ tool: "nothing" }] }]);

  const cause = await failureOf(agent.run("Go", { id: "a", limits: { maxSteps: 1 } }));

  expect(cause).toMatchObject({ code: "run-stopped", details: { run: "a", reason: "steps", text: "First. " } });
  expect(cause.message).toMatchInlineSnapshot(
    `"Cannot finish the run "a": it was stopped (steps); raise the limit, and fork the run to go on"`,
  );
});

test("a run that was cancelled throws run-stopped, and says to resume it", async () => {
  const run: AgentRun = createTestAgent(["Hello"]).run("Go", { id: "a", onEvent: () => run.stop() });

  const cause = await failureOf(run);

  expect(cause.message).toMatchInlineSnapshot(
    `"Cannot finish the run "a": it was stopped (cancelled); resume the run to go on"`,
  );
});

test("a run that waits for an approval throws run-paused, with the approvals", async () => {
  const agent = createTestAgent([{ text: "I pay.", calls: [{ tool: "pay" }] }, "Paid"], { store: memoryStore() });

  const cause = await failureOf(agent.run("Pay", { id: "a" }));
  await agent.decide("a:1.0", { decision: "approve" });
  const { text } = await agent.resume("a");

  expect(cause).toMatchObject({ code: "run-paused", details: { run: "a", approvals: ["a:1.0"], text: "I pay." } });
  expect(cause.message).toContain("approve or deny with agent.decide or kitbag approvals, then resume the run");
  expect(text).toBe("Paid");
});

test("a run whose option is wrong throws that, and not when it is started", async () => {
  const run = createTestAgent([]).run("");

  expect(await failureOf(run)).toMatchObject({ code: "option-invalid", details: { option: "task" } });
});

test("a run that fails rejects nothing that is not waited for", async () => {
  const rejected: unknown[] = [];
  const note = (cause: unknown): unknown => rejected.push(cause);
  process.on("unhandledRejection", note);
  const agent = createTestAgent(() => ({ refused: { status: 401 } }));

  const { status } = await agent.run("Go").result;
  const types: string[] = [];
  for await (const event of agent.run("Go")) types.push(event.type);
  agent.run("Go");
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);

  expect([status, types.at(-1), rejected]).toEqual(["failed", "task-end", []]);
});

test("fork() gives the run at once, which fails if the other run is not there", async () => {
  const agent = createTestAgent(["One", "Two"], { store: memoryStore() });
  const { run } = await agent.run("Say something");

  const fork = agent.fork(run, 0, { id: "b" });
  const none = agent.fork("none", 0);

  expect([fork.id, (await fork).text]).toEqual(["b", "Two"]);
  expect(await failureOf(none)).toMatchObject({ code: "run-not-found", details: { run: "none" } });
});

test("fork() has an output of the type of its schema", async () => {
  const agent = createTestAgent(["One", '{"x": 1}'], { store: memoryStore() });
  const { run } = await agent.run("Say something");

  const output = await agent.fork(run, 0, {}, { output: z.object({ x: z.number() }) }).output();

  expectTypeOf(output).toEqualTypeOf<{ x: number }>();
  expect(output).toEqual({ x: 1 });
});

test("runs that are awaited together give all their answers, or the first failure", async () => {
  const agent = createTestAgent(() => "Hello");

  const runs = await Promise.all([agent.run("One"), agent.run("Two")]);
  const failure = await failureOf(Promise.all([agent.run("One"), agent.run("")]));

  expect(runs.map(({ text }) => text)).toEqual(["Hello", "Hello"]);
  expect(failure.code).toBe("option-invalid");
});

function createTestAgent(script: MockScript, options: Partial<AgentOptions> = {}): ReturnType<typeof createAgent> {
  const workspace = createWorkspace({ tools: [pay] });
  return createAgent({ model: mockModel(script), workspace, retries: { maxRetries: 0 }, ...options });
}

async function failureOf(work: PromiseLike<unknown>): Promise<KitbagError> {
  try {
    await work;
  } catch (cause) {
    if (isKitbagError(cause)) return cause;
    throw cause;
  }
  throw new Error("It did not fail");
}
