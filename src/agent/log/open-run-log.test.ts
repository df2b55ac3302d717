import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createAgent } from "../create-agent.ts";

test("a run writes an answer together with the calls that it asks for, and the last one with its end", async () => {
  const commits = await commitsOf([{ calls: [{ tool: "count" }] }, { calls: [{ tool: "count" }] }, "Done"]);

  expect(commits).toEqual([
    ["lease-start", "task-start"],
    ["model-answer", "step-intent"],
    ["step-outcome"],
    ["model-answer", "step-intent"],
    ["step-outcome"],
    ["model-answer", "run-end"],
  ]);
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
  const tools = [
    defineTool({ name: "count", description: "Counts", run: () => 1 }),
    defineTool({ name: "drop", description: "Drops", needsApproval: true, run: () => 1 }),
  ];
  await createAgent({ model: mockModel(script), workspace: createWorkspace({ tools }), store: watched }).run("Go")
    .result;
  return commits;
}
