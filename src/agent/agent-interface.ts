import type { SchemaSource } from "../core/schema/to-schema.ts";
import type { AgentRun } from "./agent-run.ts";
import type { Decision, KeptOption, OutputOf, RunOptions, Task } from "./agent-options.ts";
import type { ForkChanges } from "./log/fork-run.ts";
import type { ReplayReport } from "./log/replay-run.ts";

/** What may be said about a run that goes on; the rest stays as it was. */
type ResumeOptions<Schema extends SchemaSource = SchemaSource> = Omit<RunOptions<Schema>, KeptOption>;

/** Something that works on tasks with a model and the tools of a workspace. */
export interface Agent {
  /** Starts a run. Never throws: what is wrong is in its result. */
  run(task: Task, options?: RunOptions & { readonly output?: undefined }): AgentRun;
  run<Schema extends SchemaSource>(task: Task, options: RunOptions<Schema>): AgentRun<OutputOf<Schema>>;
  /**
   * Goes on with a run that was interrupted or paused. Calls whose outcome is recorded are not made again; one that was in flight is
   * made again only if its tool is read-only or idempotent, and otherwise the model is told that it may have happened. It keeps the
   * limits that it was given, and what its answer must be like; of a schema of a library, give it again to have it check the answer.
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
   * Goes through a run again with the answers and outcomes of its journal, and tells where it would not be the same now. Neither the
   * model nor a tool is asked.
   *
   * @throws {KitbagError} `run-not-found`; `run-damaged` if a line of the journal is not what it should be.
   */
  replay(id: string): Promise<ReplayReport>;
  /**
   * Makes a run that is the same as another up to a step, and then goes its own way: with something changed, or another model.
   *
   * @throws {KitbagError} `run-not-found`; `run-damaged` if a line up to this step is not what it should be; `option-invalid` if there is
   * no such step or call, or an option is wrong.
   */
  fork(id: string, step: number, changes?: ForkChanges, options?: ResumeOptions): Promise<AgentRun>;
  /** Of all runs of this agent, in US dollars; `undefined` if a price is not known. */
  readonly totalCost: number | undefined;
  readonly totalTokens: number;
}
