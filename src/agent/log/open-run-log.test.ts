import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createAgent } from "../create-agent.ts";

const count = defineTool({ name: "count", description: "Counts", annotations: { readOnly: true }, run: () => 1 });

test("a run writes what came of its calls with the next answer, that with the calls it asks for, and the last one with its end", async () => {
  const commits = await commitsOf([{ calls: [{ tool: "count" }] }, { calls: [{ tool: "count" }] }, "Done"]);

  expect(commits).toEqual([
    ["lease-start", "task-start"],
    ["model-answer", "step-intent"],
    ["step-outcome", "model-answer", "step-intent"],
    ["step-outcome", "model-answer", "run-end"],
  ]);
});

test("a run writes what came of its calls while the model thinks", async () => {
  const commits = await commitsOf([{ calls: [{ tool: "count" }] }, { text: "Done", delayMs: 50 }]);

  expect(commits.slice(2)).toEqual([["step-outcome"], ["model-answer", "run-end"]]);
});

test("a run tells nobody that a call is over before that is written", async () => {
  const store = memoryStore();
  const run = createAgent({
    model: mockModel([{ calls: [{ tool: "count" }] }, "Done"]),
    workspace: createWorkspace({ tools: [count] }),
    store,
  }).run("Go");
  const written: unknown[] = [];

  for await (const { type } of run) {
    if (type === "tool-end") written.push((await store.log.read(`run:${run.id}`)).at(-1)?.value);
  }

  expect(written).toMatchObject([{ type: "step-outcome" }]);
});

test("a run declares calls that it makes at the same time in one go", async () => {
  const commits = await commitsOf([{ calls: [{ tool: "count" }, { tool: "count" }, { tool: "count" }] }, "Done"]);

  expect(commits[1]).toEqual(["model-answer", "step-intent", "step-intent", "step-intent"]);
});

test("a run writes an answer before what the agent says about it, and before a pause", async () => {
  const cut = await commitsOf([{ text: "Half", finishReason: "interrupted" }, "whole"]);
  const paused = await commitsOf([{ calls: [{ tool: "drop" }] }]);

  expect(cut.slice(1)).toEqual([
    ["model-answer", "message-added"],
    ["model-answer", "run-end"],
  ]);
  expect(paused.slice(1)).toEqual([["model-answer", "approval-asked"], ["lease-end"]]);
});

/** The types of what one run writes, commit by commit. */
async function commitsOf(script: MockScript): Promise<readonly (readonly string[])[]> {
  const commits: string[][] = [];
  const store = memoryStore();
  const watched: Store = {
    ...store,
    log: {
      ...store.log,
      append(stream, values, options) {
        commits.push(values.map((value) => (value as JsonObject)["type"] as string));
        return store.log.append(stream, values, options);
      },
    },
  };
  const tools = [count, defineTool({ name: "drop", description: "Drops", needsApproval: true, run: () => 1 })];
  await createAgent({ model: mockModel(script), workspace: createWorkspace({ tools }), store: watched }).run("Go")
    .result;
  return commits;
}
