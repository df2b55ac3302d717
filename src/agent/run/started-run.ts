import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { AgentRun } from "../agent-run.ts";
import { toCostRows } from "../cost/cost-table.ts";
import { type CostRow, nothingUsed } from "../cost/usage-counter.ts";
import type { AgentEvent } from "../events.ts";
import type { OkRun, RunResult, RunUsage } from "../run-result.ts";
import type { OutputRule, RunStart, RunState } from "./run-state.ts";

/** A run, from before it is prepared until it ends. */
export interface Job {
  readonly start: RunStart;
  readonly stop: () => void;
  readonly controller: AbortController;
  /** Steering messages that arrived before the run was prepared. */
  readonly steering: string[];
  run: RunState | undefined;
}

/**
 * A class, not an object with getters: each of those would have a hidden class of its own, which holds what its getters see, the whole
 * run, until the old generation is collected.
 */
export class StartedRun implements AgentRun {
  readonly id: string;
  readonly result: Promise<RunResult>;
  readonly stop: () => void;
  readonly #job: Job;

  constructor(job: Job, result: Promise<RunResult>) {
    this.#job = job;
    this.id = job.start.id;
    this.result = result;
    this.stop = job.stop;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a run is awaited for its answer
  then<Value = OkRun, Other = never>(
    onAnswer?: ((answer: OkRun) => Value | PromiseLike<Value>) | null,
    onFailure?: ((cause: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Value | Other> {
    // Made only for a caller that waits: a run that fails unseen rejects nothing.
    return this.result.then(needAnswer).then(onAnswer, onFailure);
  }

  async text(): Promise<string> {
    return (await this).text;
  }

  async output(): Promise<JsonValue> {
    return (await this).output;
  }

  partials(): AsyncIterable<JsonValue> {
    // From now on, also if it is iterated over later.
    const events = this.#job.start.feed.iterate();
    const findRule = (): OutputRule | undefined => this.#job.run?.parts.output;
    async function* read(): AsyncGenerator<JsonValue> {
      const { readPartials } = await import("./read-partials.ts");
      yield* readPartials(events, findRule);
    }
    return read();
  }

  get cost(): number | undefined {
    const { run } = this.#job;
    return run === undefined ? 0 : run.parts.counter.cost();
  }

  get usage(): RunUsage {
    return this.#job.run?.parts.counter.usage() ?? nothingUsed;
  }

  readonly breakdown = (): readonly CostRow[] => toCostRows(this.#job.run?.questions ?? [], this.#job.run?.spent);

  readonly steer = (text: string): void => void (this.#job.run?.steering ?? this.#job.steering).push(text);

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent, undefined> {
    return this.#job.start.feed.iterate();
  }
}

/** @throws {KitbagError} why there is no answer. */
function needAnswer(result: RunResult): OkRun {
  const { run, text } = result;
  switch (result.status) {
    case "ok":
      return result;
    case "failed":
    case "cut":
    case "refused":
      throw new KitbagError(result.error.code, { run, text, ...result.error.details });
    case "stopped":
      throw new KitbagError("run-stopped", { run, reason: result.reason, text });
    case "paused":
      throw new KitbagError("run-paused", { run, approvals: result.approvals, text });
  }
}
