import { expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";

import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { TypedTool } from "../../core/tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { ComposedCode } from "./compose-tool.ts";
import { pipeline } from "./pipeline.ts";
import { retry } from "./retry.ts";

test("retry() calls a tool again until it answers", async () => {
  const flaky = failing(2);
  const tool = retry(flaky.tool, { attempts: 5, backoffMs: 1 });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { text: "a" });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ text: string }, string>>();
  expect(outcome).toEqual({ status: "ok", output: "a" });
  expect(flaky.count()).toBe(3);
});

test("retry() gives up after so many attempts, with the last failure", async () => {
  const flaky = failing(9);
  const tool = retry(flaky.tool, { attempts: 3, backoffMs: 0 });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { text: "a" });

  expect(flaky.count()).toBe(3);
  expect(outcome).toMatchObject({
    error: { code: "step-failed", details: { tool: "flaky", step: "attempt 3 of 3", code: "tool-failed" } },
  });
});

test("retry() keeps the tool's name, description and schemas unless it is given others", () => {
  const { tool } = failing(0);

  const same = retry(tool);
  const other = retry(tool, { name: "steady", description: "Never fails" });

  expect(same).toMatchObject({ name: "flaky", description: "Fails at first", inputSchema: tool.inputSchema });
  expect(other).toMatchObject({ name: "steady", description: "Never fails" });
  expect((same.code as ComposedCode).parts).toEqual([tool]);
});

test("retry() does not try again what cannot change", async () => {
  const flaky = failing(9, new KitbagError("injection-missing", { tool: "flaky", names: ["key"] }));
  const tool = retry(flaky.tool, { backoffMs: 0 });
  const workspace = createWorkspace({ tools: [tool] });

  const outcome = await workspace.call(tool, { text: "a" });

  expect(outcome).toMatchObject({ error: { details: { code: "injection-missing", step: "attempt 1 of 3" } } });
  expect(flaky.count()).toBe(1);
});

test("retry() looks at what failed at the bottom of a composed tool", async () => {
  const flaky = failing(9, new KitbagError("tool-unavailable", { tool: "x", owner: "y" }));
  const inner = pipeline({ name: "inner", description: "d", steps: [flaky.tool] });
  const tool = retry(inner, { backoffMs: 0 });

  await createWorkspace({ tools: [tool] }).call(tool, { text: "a" });

  expect(flaky.count()).toBe(1);
});

test("retry() lets the author decide which failures pass", async () => {
  const flaky = failing(9);
  const tool = retry(flaky.tool, { backoffMs: 0, retryIf: ({ message }) => !message.includes("not yet") });

  await createWorkspace({ tools: [tool] }).call(tool, { text: "a" });

  expect(flaky.count()).toBe(1);
});

test("retry() asks for an approval each time, and does not ask again after a denial", async () => {
  let asked = 0;
  const flaky = failing(1);
  const tool = retry(flaky.tool, { backoffMs: 0 });
  const workspace = createWorkspace({
    tools: [tool],
    approve: ({ address }) => {
      if (address === "flaky") return { decision: "approve" };
      asked += 1;
      return asked === 1 ? { decision: "approve" } : { decision: "deny", reason: "once is enough" };
    },
  });

  const outcome = await workspace.call(tool, { text: "a" });

  expect(outcome).toMatchObject({ error: { details: { code: "approval-denied" } } });
  expect(asked).toBe(2);
});

test("retry() stops waiting at once when it is cancelled", async () => {
  const flaky = failing(9);
  const tool = retry(flaky.tool, { backoffMs: 60_000, maxBackoffMs: 60_000 });
  const controller = new AbortController();
  const call = createWorkspace({ tools: [tool] }).call(tool, { text: "a" }, { signal: controller.signal });
  await vi.waitFor(() => expect(flaky.count()).toBe(1));

  const started = performance.now();
  controller.abort();
  const outcome = await call;

  expect(outcome).toMatchObject({ error: { code: "call-cancelled" } });
  expect(performance.now() - started).toBeLessThan(30_000);
  expect(flaky.count()).toBe(1);
});

test("retry() throws what the signal says when it is aborted while it waits, and leaves no timer", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const { tool } = failing(0);
  const { run } = retry(tool, { backoffMs: 60_000, maxBackoffMs: 60_000 }).code as ComposedCode;
  const error = { code: "tool-failed", message: "no", details: { tool: "flaky", reason: "no" } };

  const running = run({ text: "a" }, {
    signal: controller.signal,
    progress: () => controller.abort(reason),
    call: () => Promise.resolve({ status: "failed", error }),
  } as never);

  await expect(running).rejects.toBe(reason);
});

test("retry() waits longer each time, never longer than it may, and never quite the same", async () => {
  const flaky = failing(5);
  const tool = retry(flaky.tool, { attempts: 6, backoffMs: 8, maxBackoffMs: 16 });

  await createWorkspace({ tools: [tool] }).call(tool, { text: "a" });

  const waits = flaky
    .times()
    .slice(1)
    .map((time, index) => time - (flaky.times()[index] ?? 0));
  const shortest = [4, 8, 8, 8, 8];
  expect(waits).toHaveLength(5);
  for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual((shortest[index] ?? 0) - 1);
  expect(new Set(waits).size).toBeGreaterThan(1);
});

test("retry() refuses a tool that may do its work twice", () => {
  const pay = defineTool({ name: "pay", description: "d", run: () => null });

  expect(() => retry(pay)).toThrow(
    'Cannot define the tool "pay": tool: expected a tool that may be run again: annotate pay with idempotent or readOnly if that is true, found one that may do its work twice',
  );
});

test("retry() takes a read-only tool", () => {
  const read = defineTool({ name: "read", description: "d", annotations: { readOnly: true }, run: () => null });

  expect(retry(read).annotations).toEqual({ readOnly: true, destructive: false, idempotent: true });
});

test.for<[object, string]>([
  [{ attempts: 0 }, "attempts: expected a whole number from 1 to 100, found 0"],
  [{ attempts: Infinity }, "attempts: expected a whole number from 1 to 100, found Infinity"],
  [{ attempts: 1.5 }, "attempts: expected a whole number from 1 to 100, found 1.5"],
  [{ backoffMs: -1 }, "backoffMs: expected a number from 0 to 2147483647, found -1"],
  [{ backoffMs: Number.NaN }, "backoffMs: expected a number from 0 to 2147483647, found NaN"],
  [{ maxBackoffMs: "1s" }, 'maxBackoffMs: expected a number from 0 to 2147483647, found "1s"'],
  [{ retryIf: true }, "retryIf: expected a function, found true"],
])("retry() refuses %o", ([options, message]) => {
  expect(() => retry(failing(0).tool, options)).toThrow(`Cannot define the tool "flaky": ${message}`);
});

test("retry() refuses what is no tool", () => {
  expect(() => retry("flaky" as never)).toThrow('tool: expected a tool, found "flaky"');
});

function failing(failures: number, error: Error = new Error("not yet")) {
  const times: number[] = [];
  const tool = defineTool({
    name: "flaky",
    description: "Fails at first",
    input: z.object({ text: z.string() }),
    annotations: { idempotent: true },
    run({ text }) {
      times.push(performance.now());
      if (times.length <= failures) throw error;
      return text;
    },
  });
  return { tool, count: () => times.length, times: () => times };
}
