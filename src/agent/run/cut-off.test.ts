import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { ToolAnnotations } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";
import type { RunResult } from "../run-result.ts";

test("resume() makes a call again that stop() has cut off, if it may be made again", async () => {
  const { agent, made, stopped, outcomesOf } = await stopWithin({ readOnly: true });

  const resumed = await agent.resume("a").result;

  expect(stopped).toMatchObject({ status: "stopped", reason: "cancelled" });
  expect(JSON.stringify(stopped.messages.at(-1))).toContain("the call was cancelled");
  expect(resumed).toMatchObject({ status: "ok", text: "Done" });
  expect(JSON.stringify(resumed.messages)).not.toContain("cancelled");
  expect(made).toEqual(["look", "other", "look"]);
  expect(await outcomesOf("a")).toEqual(["1.1", "1.0"]);
  expect(await agent.replay("a")).toMatchObject({ status: "same", steps: 2 });
});

test("resume() does not make a call again that stop() has cut off, if nobody knows whether it may be", async () => {
  const { agent, made } = await stopWithin({ parallelSafe: true });

  const resumed = await agent.resume("a").result;

  expect(JSON.stringify(resumed.messages)).toContain("the call was cancelled");
  expect(made).toEqual(["look", "other"]);
});

interface Stopped {
  readonly agent: Agent;
  readonly made: readonly string[];
  readonly stopped: RunResult;
  outcomesOf(run: string): Promise<readonly unknown[]>;
}

/** A run that was stopped while one of its two calls was made, and the other was over. */
async function stopWithin(annotations: ToolAnnotations): Promise<Stopped> {
  const made: string[] = [];
  const store = memoryStore();
  const look = defineTool({
    name: "look",
    description: "Looks",
    annotations,
    run() {
      made.push("look");
      return made.length > 2 ? "seen" : new Promise(() => {});
    },
  });
  const other = defineTool({
    name: "other",
    description: "Is another",
    annotations: { parallelSafe: true },
    run: () => void made.push("other"),
  });
  const model = mockModel([{ calls: [{ tool: "look" }, { tool: "other" }] }, "Done"]);
  const agent = createAgent({ model, store, workspace: createWorkspace({ tools: [look, other] }) });
  const run: AgentRun = agent.run("Look", {
    id: "a",
    onEvent: (event) => event.type === "tool-end" && event.tool === "other" && run.stop(),
  });
  return {
    agent,
    made,
    stopped: await run.result,
    outcomesOf: async (id) =>
      (await createRuns({ store }).read(id)).flatMap(({ value }) =>
        value.type === "step-outcome" ? [value["step"]] : [],
      ),
  };
}
