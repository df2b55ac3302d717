import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { AgentCaller, AgentRequest } from "../../workspace/call/call-options.ts";
import type { UsageCounter } from "../cost/usage-counter.ts";
import type { CallSpending } from "../run/call-spending.ts";
import type { PlannedCall } from "../run/plan-calls.ts";
import type { RunState } from "../run/run-state.ts";

/** A run of a sub-agent that a call asks for. */
export interface ChildCall {
  readonly request: AgentRequest;
  /** The run that makes the call. */
  readonly parent: RunState;
  /** `step.call` in the run that makes the call, and of the address of the agent. */
  readonly call: string;
  readonly address: string;
  /** The id of the child's run. */
  readonly id: string;
  /** Counts what it uses, for the call. */
  readonly counter: UsageCounter;
}

/** How the run of a sub-agent ended, for the run that waits for it. */
export type ChildEnd =
  | { readonly kind: "done"; readonly output: JsonValue }
  /** It waits for these approvals. */
  | { readonly kind: "paused"; readonly approvals: readonly string[] }
  /** It was interrupted, and can be resumed together with the run that waits for it. */
  | { readonly kind: "interrupted"; readonly cause: KitbagError };

/**
 * The runs of sub-agents that one call of a run makes: directly, because its tool is an agent, or by way of a tool that calls one.
 *
 * The run of a direct one has the id `run~step.call`. It is not made anew when the run above is resumed, but goes on where it was.
 */
export class ChildRuns implements AgentCaller {
  readonly #run: RunState;
  readonly #planned: PlannedCall;
  readonly #spending: CallSpending;
  #running: Set<Promise<unknown>> | undefined;
  #count = 0;
  /** Approvals that a direct one waits for: the call has no outcome before they are decided. */
  waiting: readonly string[] = [];
  /** Why the run above must stop, too: the store is away, or another process has the run. */
  failure: KitbagError | undefined;

  constructor(run: RunState, planned: PlannedCall, spending: CallSpending) {
    this.#run = run;
    this.#planned = planned;
    this.#spending = spending;
  }

  run(request: AgentRequest): Promise<unknown> {
    const work = this.#work(request);
    const running = (this.#running ??= new Set());
    const ended = work.catch(() => undefined).finally(() => running.delete(ended));
    running.add(ended);
    return work;
  }

  /** Whether there was one. */
  get areUsed(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when none is running: one that is cancelled still writes down how far it came. */
  async ended(): Promise<void> {
    while (this.#running !== undefined && this.#running.size > 0) await Promise.all(this.#running);
  }

  async #work(request: AgentRequest): Promise<unknown> {
    // Most runs have no sub-agents.
    const { checkHandoff, endChild, runChild } = await import("./run-child.ts");
    const run = this.#run;
    if ("next" in request.tool.code) {
      const output = await checkHandoff(run, request);
      run.handedTo = this.#planned;
      return output;
    }
    const { index, address } = this.#planned;
    const call = `${run.step}.${index}`;
    const id = this.#toId(call, request.isDirect);
    run.hasChildren = true;
    const counter = this.#spending.openRun();
    const end = await runChild({ request, parent: run, call, address: request.chain.at(-1) ?? address, id, counter });
    switch (end.kind) {
      case "done":
        return end.output;
      case "paused":
        this.waiting = end.approvals;
        throw new KitbagError("run-paused", { run: id, approvals: end.approvals, text: "" });
      case "interrupted":
        return this.#interrupt(end, id, endChild);
    }
  }

  async #interrupt(
    { cause }: Extract<ChildEnd, { kind: "interrupted" }>,
    id: string,
    endChild: (run: RunState, id: string) => Promise<void>,
  ): Promise<never> {
    const { signal } = this.#run.parts;
    if (cause.code !== "run-stopped") this.failure = cause;
    // Only its call was cancelled, and has an outcome: nothing will go on with it.
    else if (!signal.aborted) await endChild(this.#run, id);
    throw cause;
  }

  #toId(call: string, isDirect: boolean): string {
    this.#count += 1;
    const id = `${this.#run.id}~${call}`;
    if (!isDirect) return `${id}~${crypto.randomUUID().slice(0, 8)}`;
    // A tool that fails may be tried again.
    return this.#count === 1 ? id : `${id}.${this.#count}`;
  }
}
