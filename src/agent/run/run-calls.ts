import { toFailure } from "../../core/errors.ts";
import { hasGuardAt } from "../../core/guards.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { LoggedOutcome } from "../log/run-log.ts";
import { askApproval } from "./ask-approval.ts";
import { CallSpending } from "./call-spending.ts";
import { CutOff, makeCall } from "./make-call.ts";
import { isAlone, isIdempotent, type PlannedCall } from "./plan-calls.ts";
import { checkSpent } from "./run-end.ts";
import type { RunState } from "./run-state.ts";
import { openAgain } from "./told-skills.ts";

/** The outcome of a call; `undefined` if it waits for approval. */
export type CallResult = ToolOutcome | undefined;

/**
 * Makes the calls of one answer, in parallel where that is allowed, otherwise in order. A call that fails or is denied does not stop
 * the others. The results are in the order of the calls; the last ones are missing if what the first ones cost has used up a limit.
 *
 * @throws {KitbagError} `hook-failed`, and what the store throws: no further call begins then.
 */
export function runCalls(run: RunState, calls: readonly PlannedCall[]): Promise<readonly CallResult[]> {
  const [first] = calls;
  return calls.length === 1 && first !== undefined ? runCall(run, first).then(toList) : runGroups(run, calls);
}

const toList = (result: CallResult): readonly CallResult[] => [result];

async function runGroups(run: RunState, calls: readonly PlannedCall[]): Promise<readonly CallResult[]> {
  const results: CallResult[] = [];
  let isHeld = false;
  for (const group of toGroups(calls, run.parts.limits.maxParallel)) {
    if (run.spent.length > 0 && checkSpent(run) !== undefined) return results;
    // Calls behind one that must run alone wait for it, even if its approval takes until tomorrow.
    isHeld ||= run.waiting.length > 0 && group.some(isAlone);
    const settled = await Promise.allSettled(group.map((call) => runCall(run, call, isHeld)));
    for (const one of settled) {
      if (one.status === "rejected") throw one.reason;
      results.push(one.value);
    }
    isHeld ||= run.waiting.length > 0 && group.some(isAlone);
  }
  return results;
}

function toGroups(calls: readonly PlannedCall[], maxParallel: number): readonly (readonly PlannedCall[])[] {
  const groups: PlannedCall[][] = [];
  let open: PlannedCall[] | undefined;
  for (const call of calls) {
    if (isAlone(call)) {
      groups.push([call]);
      open = undefined;
      continue;
    }
    if (open === undefined || open.length >= maxParallel) groups.push((open = []));
    open.push(call);
  }
  return groups;
}

async function runCall(run: RunState, planned: PlannedCall, isHeld = false): Promise<CallResult> {
  const { log, feed, counter, signal } = run.parts;
  const { id: runId, step } = run;
  const { id, address: tool, index } = planned;
  const name = `${step}.${index}`;
  if (signal.aborted) return cancelled(planned);
  const approval = mayBeAsked(run, planned) ? await askApproval(run, planned, name) : undefined;
  if (approval === "waits" || (isHeld && !run.done.has(name))) return undefined;
  const startedAt = performance.now();
  const isHeard = feed.isHeard();
  if (isHeard) tellStart(run, planned, name);
  let logged: LoggedOutcome | undefined;
  try {
    logged = await log.call({
      name,
      tool,
      idempotent: isIdempotent(planned),
      // Once listeners have seen `tool-end`, the call must not be repeated after a crash.
      isAwaited: isHeard,
      work: (begin) => makeCall(run, planned, { approval, begin, spending: new CallSpending(run, planned) }),
    });
  } catch (cause) {
    logged = fromCutOff(cause);
  }
  if (logged === undefined) return undefined;
  const { outcome, recalled } = logged;
  if (!recalled) counter.add({ usage: { toolCalls: 1 }, cost: 0 });
  else await openAgain(run, planned, outcome);
  const durationMs = performance.now() - startedAt;
  if (isHeard) {
    feed.tell({ type: "tool-end", run: runId, step, id, tool, outcome, durationMs, ...(recalled && { recalled }) });
  }
  return outcome;
}

/** Whether a call may need an approval before it is made. */
function mayBeAsked({ parts: { guards } }: RunState, { tool, unreadable }: PlannedCall): boolean {
  return unreadable === undefined && (tool?.needsApproval === true || hasGuardAt(guards, "tool-input"));
}

/** The outcome of a call that is not in the journal; nothing if a sub-agent waits for an approval. */
function fromCutOff(cause: unknown): LoggedOutcome | undefined {
  if (!(cause instanceof CutOff)) throw cause;
  return cause.outcome && { outcome: cause.outcome, recalled: false };
}

function tellStart({ id: run, step, decided, parts: { feed } }: RunState, planned: PlannedCall, name: string): void {
  const { id, address: tool, repairs } = planned;
  // An approved call is made with the input that was approved.
  const input = decided.get(`${run}:${name}`)?.input ?? planned.input;
  feed.tell({ type: "tool-start", run, step, id, tool, input, ...(repairs && { repairs }) });
}

/** A call that was not begun because the run was stopped. It is not written down, so that a resumed run makes it. */
function cancelled({ address }: PlannedCall): ToolOutcome {
  return { status: "failed", error: toFailure("call-cancelled", { tool: address, reason: "the run was stopped" }) };
}
