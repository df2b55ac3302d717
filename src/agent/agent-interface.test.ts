import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod";

import type { Failure } from "../core/errors.ts";
import type { JsonValue } from "../core/json.ts";
import { memoryStore } from "../store/memory-store.ts";
import { mockModel } from "../testing/models/mock-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import type { AgentRun } from "./agent-run.ts";
import type { RunOptions } from "./agent-options.ts";
import { createAgent } from "./create-agent.ts";
import type { StopReason } from "./run-result.ts";

const point = z.object({ x: z.number(), at: z.string().refine((text) => text !== "", "must say something") });

test("run() has an output of the type of its schema", async () => {
  const agent = createAgent({
    model: mockModel(['{"x": 1, "at": "abc"}', "Hello", '{"x": 1}']),
    workspace: createWorkspace(),
  });

  const typed = await agent.run("Where?", { output: point }).result;
  const text = await agent.run("Hello").result;
  const json = await agent.run("Where?", { output: { type: "object" } }).result;

  expectTypeOf(typed.output).toEqualTypeOf<{ x: number; at: string } | undefined>();
  expectTypeOf(text.output).toEqualTypeOf<JsonValue | undefined>();
  expectTypeOf(json.output).toEqualTypeOf<JsonValue | undefined>();
  if (typed.status === "ok") expectTypeOf(typed.output).toEqualTypeOf<{ x: number; at: string }>();
  if (typed.status === "failed") expectTypeOf(typed.error).toEqualTypeOf<Failure>();
  if (typed.status === "stopped") expectTypeOf(typed.reason).toEqualTypeOf<StopReason>();
  if (typed.status === "paused") expectTypeOf(typed.approvals).toEqualTypeOf<readonly string[]>();
  expectTypeOf<ReturnType<typeof agent.run<RunOptions["output"] & object>>>().toEqualTypeOf<AgentRun>();
  expect([typed.output, text.output, json.output]).toEqual([{ x: 1, at: "abc" }, "Hello", { x: 1 }]);
});

test("run() gives what the schema makes of what the model writes", async () => {
  const counted = z.object({ words: z.string().transform((text) => text.split(" ").length) });
  const agent = createAgent({ model: mockModel(['{"words": "one two three"}']), workspace: createWorkspace() });

  const { output } = await agent.run("Count", { output: counted }).result;

  expectTypeOf(output).toEqualTypeOf<{ words: number } | undefined>();
  expect(output).toEqual({ words: 3 });
});

test("run() has an answer mended that only the schema's library finds wrong", async () => {
  const model = mockModel(['{"x": 1, "at": ""}', '{"x": 1, "at": "abc"}']);

  const { output } = await createAgent({ model, workspace: createWorkspace() }).run("Where?", { output: point }).result;

  expect(output).toEqual({ x: 1, at: "abc" });
  expect(JSON.stringify(model.asked[1]?.prompt)).toContain("must say something");
});

test("resume() has an output of the type of its schema, and has the schema's library check it", async () => {
  const agent = createAgent({
    model: mockModel(["Hm", '{"x": 1, "at": ""}', '{"x": 1, "at": "abc"}']),
    workspace: createWorkspace(),
    store: memoryStore(),
  });
  const run: AgentRun<z.infer<typeof point>> = agent.run("Where?", {
    output: point,
    onEvent: ({ type }) => type === "message-added" && run.stop(),
  });
  await run.result;

  const result = await agent.resume(run.id, { output: point }).result;

  expectTypeOf(result.output).toEqualTypeOf<{ x: number; at: string } | undefined>();
  expect(result.output).toEqual({ x: 1, at: "abc" });
});
