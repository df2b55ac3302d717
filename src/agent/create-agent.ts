/*
 * The agent: asks a model and makes the calls that it asks for, until it has an answer. May import the workspace, models, records, the
 * store and everything below. Start with `run/run-loop.ts` (one step after the other), then `run/run-calls.ts` and `log/run-log.ts`
 * (what is on disk before a call is made).
 */
import { memoryStore } from "../store/memory-store.ts";
import { createRuns } from "../records/runs/create-runs.ts";
import type { Agent } from "./agent-interface.ts";
import type { AgentOptions, RunOptions, Task } from "./agent-options.ts";
import { type AgentParts, keepParts, needRuns } from "./agent-parts.ts";
import type { AgentRun } from "./agent-run.ts";
import { checkAgentOptions, checkResumeOptions } from "./check-agent-options.ts";
import { createUsageCounter } from "./cost/usage-counter.ts";
import type { ForkChanges } from "./log/fork-run.ts";
import { createModelSource } from "./model-source.ts";
import { prepareRun } from "./run/prepare-run.ts";
import { startRun } from "./run/start-run.ts";
import type { RunStart } from "./run/run-state.ts";
import { createAgentTelemetry } from "./telemetry/agent-telemetry.ts";

/**
 * Makes an agent.
 *
 * @throws {KitbagError} `option-invalid` if an option is wrong; `model-name-invalid`, `provider-unknown`, `provider-missing` or
 * `model-key-missing` if the named model cannot be asked, as far as that is known before it is.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 * import { createAgent } from "kitbag/agent";
 *
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers",
 *   input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
 *   run: ({ a, b }) => Number(a) + Number(b),
 * });
 * const agent = createAgent({ model: "local", workspace: createWorkspace({ tools: [add] }) });
 *
 * const { text } = await agent.run("Add 19 and 23");
 * console.assert(text.includes("42"));
 * ```
 */
export function createAgent(options: AgentOptions): Agent {
  checkAgentOptions(options);
  const { store, leaseMs } = options;
  const telemetry = createAgentTelemetry(options.telemetry ?? {});
  const parts: AgentParts = {
    options,
    models: createModelSource(options),
    runs: store && createRuns({ store, ...(leaseMs !== undefined && { leaseMs }) }),
    answers: options.cache && (store ?? memoryStore()).kv,
    total: createUsageCounter(),
    telemetry,
  };

  // What reads journals is loaded when a journal is read: many programs only run tasks.
  const resume = async (start: RunStart) => (await import("./run/prepare-resume.ts")).prepareResume(parts, start);

  return keepParts(
    {
      run: (task: Task, runOptions: RunOptions = {}): AgentRun =>
        startRun(runOptions.id ?? crypto.randomUUID(), runOptions, telemetry, (start) =>
          prepareRun(parts, task, start),
        ),
      resume: (id: string, runOptions: RunOptions = {}): AgentRun => startRun(id, runOptions, telemetry, resume),
      replay: async (id) => (await import("./log/replay-run.ts")).replayRun(parts, id),
      fork(id: string, step: number, changes: ForkChanges = {}, runOptions: RunOptions = {}): AgentRun {
        const { model, user } = runOptions;
        const fork = { ...changes, id: changes.id ?? crypto.randomUUID() };
        return startRun(fork.id, runOptions, telemetry, async (start) => {
          checkResumeOptions(runOptions);
          const { forkRun } = await import("./log/fork-run.ts");
          await forkRun(parts, { id, step, model, user }, fork);
          return resume(start);
        });
      },
      async decide(approval, decision) {
        const { decideApproval } = await import("./log/decide-approval.ts");
        await decideApproval({ runs: needRuns(parts.runs), sealer: options.audit }, approval, decision);
      },
      get totalCost() {
        return parts.total.cost();
      },
      get totalTokens() {
        return parts.total.tokens();
      },
    },
    parts,
  );
}
