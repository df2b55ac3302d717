import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ToolContext, Tool } from "../../core/tool.ts";
import { createWorkspace } from "../create-workspace.ts";

test("R25: a call may make so many calls, all levels together", async () => {
  const workspace = createWorkspace({
    limits: { maxCalls: 5 },
    tools: [
      tool("outer", ({ call }) => callTimes(call, "middle", 3)),
      tool("middle", ({ call }) => callTimes(call, "inner", 2)),
      tool("inner", () => "done"),
    ],
  });

  const outcome = await workspace.call("outer");

  // Middle and its two, middle and one of its two: that is five.
  expect(outcome).toEqual({
    status: "ok",
    output: [["done", "done"], ["done", "budget-spent"], "budget-spent"],
  });
});

test("R25: the caller may give a call another budget, also none at all", async () => {
  const workspace = createWorkspace({
    limits: { maxCalls: 5 },
    tools: [tool("outer", ({ call }) => callTimes(call, "inner", 2)), tool("inner", () => "done")],
  });

  const outcomes = await Promise.all([0, 1, 2].map((maxCalls) => workspace.call("outer", {}, { maxCalls })));

  expect(outcomes.map((outcome) => outcome.status === "ok" && outcome.output)).toEqual([
    ["budget-spent", "budget-spent"],
    ["done", "budget-spent"],
    ["done", "done"],
  ]);
});

test("R25: calls that fail count too", async () => {
  const workspace = createWorkspace({
    limits: { maxCalls: 2 },
    tools: [tool("outer", ({ call }) => callTimes(call, "nobody", 3))],
  });

  const outcome = await workspace.call("outer");

  expect(outcome).toEqual({ status: "ok", output: ["tool-not-found", "tool-not-found", "budget-spent"] });
});

test("R25: each call has a budget of its own", async () => {
  const workspace = createWorkspace({
    limits: { maxCalls: 2 },
    tools: [tool("outer", ({ call }) => callTimes(call, "inner", 2)), tool("inner", () => "done")],
  });

  const outcomes = await Promise.all(Array.from({ length: 10 }, () => workspace.call("outer")));

  expect(outcomes).toEqual(outcomes.map(() => ({ status: "ok", output: ["done", "done"] })));
});

test("R25: a tool that tries until it succeeds is stopped with the reason, although it never waits", async () => {
  let tries = 0;
  const workspace = createWorkspace({
    tools: [
      tool("stubborn", async ({ call }) => {
        for (;;) {
          tries += 1;
          const outcome = await call("nobody");
          if (outcome.status === "ok" || tries > 100_000) return "gave up";
        }
      }),
    ],
  });

  const outcome = await workspace.call("stubborn", {}, { limitMs: 60_000 });
  const triesWhenItEnded = tries;
  tries = 100_000;

  expect(outcome).toMatchObject({ status: "failed", error: { code: "budget-spent", details: { limit: 1000 } } });
  expect(triesWhenItEnded).toBeLessThan(2100);
});

function tool(name: string, run: (context: ToolContext) => unknown): Tool {
  return defineTool({ name, description: "Does something", run: (_, context) => run(context) });
}

async function callTimes(call: ToolContext["call"], name: string, times: number): Promise<unknown[]> {
  const results: unknown[] = [];
  for (let time = 0; time < times; time++) results.push(shorten(await call(name)));
  return results;
}

function shorten(outcome: ToolOutcome): unknown {
  return outcome.status === "ok" ? outcome.output : outcome.error.code;
}
