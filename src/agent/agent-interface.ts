import type { SchemaSource } from "../core/schema/to-schema.ts";
import type { AgentRun } from "./agent-run.ts";
import type { Decision, KeptOption, OutputOf, RunOptions, Task } from "./agent-options.ts";
import type { ForkChanges } from "./log/fork-run.ts";
import type { ReplayReport } from "./log/replay-run.ts";

/** Options of a resumed run; the others keep their values. */
type ResumeOptions<Schema extends SchemaSource = SchemaSource> = Omit<RunOptions<Schema>, KeptOption>;

/** Works on tasks with a model and the tools of a workspace. */
export interface Agent {
  /** Starts a run. Never throws: await the run for its answer, or read how it ended in its `result`. */
  run(task: Task, options?: RunOptions & { readonly output?: undefined }): AgentRun;
  run<Schema extends SchemaSource>(task: Task, options: RunOptions<Schema>): AgentRun<OutputOf<Schema>>;
  /**
   * Resumes a run that was interrupted or paused. Calls with a recorded outcome are not made again; a call that was in flight is made
   * again only if its tool is read-only or idempotent, otherwise the model is told that it may have happened. The run keeps its limits
   * and its output schema; pass a schema of a library again if the library must check the answer.
   */
  resume(id: string, options?: ResumeOptions & { readonly output?: undefined }): AgentRun;
  resume<Schema extends SchemaSource>(id: string, options: ResumeOptions<Schema>): AgentRun<OutputOf<Schema>>;
  /**
   * Approves or denies a call that a paused run waits for; the run continues when it is resumed.
   *
   * @throws {KitbagError} `option-invalid` if no call of this name waits; `run-leased` if another process works on the run.
   */
  decide(approval: string, decision: Decision): Promise<void>;
  /**
   * Replays a run with the answers and outcomes of its journal, and reports where it would differ now. Neither the model nor a tool is
   * called.
   *
   * @throws {KitbagError} `run-not-found`; `run-damaged` if a line of the journal is malformed.
   */
  replay(id: string): Promise<ReplayReport>;
  /**
   * Makes a new run that is a copy of another up to a step, and then continues on its own: with changes, or with another model. If that
   * is not possible, the new run fails: with `run-not-found`; `run-damaged` if a line up to this step is malformed; `option-invalid` if
   * there is no such step or call, or an option is wrong.
   */
  fork(
    id: string,
    step: number,
    changes?: ForkChanges,
    options?: ResumeOptions & { readonly output?: undefined },
  ): AgentRun;
  fork<Schema extends SchemaSource>(
    id: string,
    step: number,
    changes: ForkChanges,
    options: ResumeOptions<Schema>,
  ): AgentRun<OutputOf<Schema>>;
  /** The cost of all runs of this agent, in US dollars; `undefined` if a price is unknown. */
  readonly totalCost: number | undefined;
  readonly totalTokens: number;
}
