import { toFailure } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Approve } from "../../workspace/call/approval.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { AgentCall } from "../hooks.ts";
import { callHook } from "./call-hook.ts";
import { askApproval, type ApprovalAnswer } from "./ask-approval.ts";
import { isAlone, isIdempotent, type PlannedCall } from "./plan-calls.ts";
import type { RunState } from "./run-state.ts";

/** What came of a call; `undefined` if it waits for somebody. */
export type CallResult = ToolOutcome | undefined;

/**
 * Makes the calls of one answer: those that may at the same time, the others in order. One that fails or is denied does not keep
 * the others from being made. Answers in the order in which they were asked for.
 *
 * @throws {KitbagError} `hook-failed`, and what the store throws: nothing more is begun then.
 */
export async function runCalls(run: RunState, calls: readonly PlannedCall[]): Promise<readonly CallResult[]> {
  const [first] = calls;
  if (calls.length === 1 && first !== undefined) return [await runCall(run, first)];
  const results: CallResult[] = [];
  for (const group of toGroups(calls, run.parts.limits.maxParallel)) {
    const settled = await Promise.allSettled(group.map((call) => runCall(run, call)));
    for (const one of settled) {
      if (one.status === "rejected") throw one.reason;
      results.push(one.value);
    }
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

async function runCall(run: RunState, planned: PlannedCall): Promise<CallResult> {
  const { log, feed, counter } = run.parts;
  const { id: runId, step } = run;
  const { id, address: tool, index } = planned;
  const name = `${step}.${index}`;
  const approval = await askApproval(run, planned, name);
  if (approval === "waits") return undefined;
  const startedAt = performance.now();
  const isHeard = feed.isHeard();
  const { input, repairs } = planned;
  if (isHeard) feed.tell({ type: "tool-start", run: runId, step, id, tool, input, ...(repairs && { repairs }) });
  const { outcome, recalled } = await log.call({
    name,
    tool,
    idempotent: isIdempotent(planned),
    work: () => makeCall(run, planned, approval),
  });
  if (!recalled) counter.addCall();
  else if (planned.dispatch !== undefined && outcome.status === "ok") await openAgain(run, planned);
  const durationMs = performance.now() - startedAt;
  if (isHeard) {
    feed.tell({ type: "tool-end", run: runId, step, id, tool, outcome, durationMs, ...(recalled && { recalled }) });
  }
  return outcome;
}

/** A skill that was opened by a call of the journal is not open in this process yet. */
async function openAgain({ parts: { session } }: RunState, { dispatch, input }: PlannedCall): Promise<void> {
  const { name } = input as { readonly name?: unknown };
  if (typeof name !== "string") return;
  // One that is gone, or is not trusted any more, stays closed: its tools are refused, and say why.
  if (dispatch?.name === "activate_skill") await session.activateSkill(name);
  if (dispatch?.name === "deactivate_skill") await session.deactivateSkill(name);
}

async function makeCall(run: RunState, planned: PlannedCall, approval: ApprovalAnswer): Promise<ToolOutcome> {
  const { hooks } = run.parts;
  if (hooks.beforeCall === undefined && hooks.afterCall === undefined)
    return reach(run, planned, approval, planned.input);
  const call = toAgentCall(run, planned);
  const before = await callHook("beforeCall", () => hooks.beforeCall?.(call));
  let outcome = await judge(run, planned, approval, before);
  for (;;) {
    const after = await callHook("afterCall", () => hooks.afterCall?.(call, outcome));
    if (after === undefined) return outcome;
    if (!("again" in after)) return after;
    outcome = await reach(run, planned, approval, after.again);
  }
}

function toAgentCall(run: RunState, { id, address, input }: PlannedCall): AgentCall {
  return { run: run.id, step: run.step, id, tool: address, input };
}

async function judge(
  run: RunState,
  planned: PlannedCall,
  approval: ApprovalAnswer,
  verdict: Awaited<ReturnType<NonNullable<RunState["parts"]["hooks"]["beforeCall"]>>>,
): Promise<ToolOutcome> {
  if (verdict === undefined) return reach(run, planned, approval, planned.input);
  if ("deny" in verdict) return denied(planned, verdict.deny);
  if ("outcome" in verdict) return verdict.outcome;
  return reach(run, planned, approval, verdict.input);
}

/** Makes the call at last: through the session, like every other. */
async function reach(
  run: RunState,
  planned: PlannedCall,
  approval: ApprovalAnswer,
  input: JsonValue,
): Promise<ToolOutcome> {
  if (approval !== undefined && approval.decision === "deny") return denied(planned, approval.reason);
  const { session } = run.parts;
  const options = toOptions(run, planned, approval !== undefined);
  const given = approval?.input === undefined ? input : (approval.input as JsonValue);
  return planned.dispatch === undefined
    ? session.call(planned.address, given, options)
    : planned.dispatch.run(given, options);
}

function denied({ address }: PlannedCall, reason: string): ToolOutcome {
  return { status: "failed", error: toFailure("approval-denied", { tool: address, reason }) };
}

function toOptions(run: RunState, { id }: PlannedCall, isApproved: boolean): CallOptions {
  const { signal, user, approve, feed, trace } = run.parts;
  const { id: runId } = run;
  return {
    signal,
    ...(trace?.around() as Pick<CallOptions, "traceparent" | "tracestate"> | undefined),
    ...(user !== undefined && { user }),
    ...(isApproved && { approve: approveOnly(approve) }),
    ...(!isApproved && approve !== undefined && { approve }),
    ...(feed.isHeard() && { onEvent: (event) => feed.tell({ type: "call-event", run: runId, id, event }) }),
  };
}

/** The decision is about the call itself, and not about calls that its tool makes. */
function approveOnly(approve: Approve | undefined): Approve {
  return (request) => {
    if (request.parent === undefined) return { decision: "approve" };
    return approve?.(request) ?? { decision: "deny", reason: "nobody is there to approve a call inside another" };
  };
}
