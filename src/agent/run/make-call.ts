import { isDeepStrictEqual } from "node:util";

import { toFailure } from "../../core/errors.ts";
import { hasGuardAt } from "../../core/guards.ts";
import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Approve, CallOptions } from "../../workspace/call/call-options.ts";
import { ChildRuns } from "../sub-agents/child-runs.ts";
import { type ApprovalAnswer, askAfterCall, askBeforeCall } from "./ask-approval.ts";
import type { CallSpending } from "./call-spending.ts";
import { toCallChanged } from "./parse-input.ts";
import { isIdempotent, type PlannedCall } from "./plan-calls.ts";
import { type GuardedVerdict, guardInput, guardResult } from "./run-guards.ts";
import type { RunState } from "./run-state.ts";
import { labelOutcome } from "./to-assistant-message.ts";

/** What is known about a call when it is made. */
interface Making {
  readonly approval: ApprovalAnswer;
  /** Says that it begins. */
  readonly begin: () => void;
  readonly spending: CallSpending;
}

/**
 * Makes a call. Answers with its outcome as the model sees it, after guards and with its label: the journal keeps only this form.
 *
 * @throws {CutOff} if the journal must not hold the outcome.
 */
export async function makeCall(run: RunState, planned: PlannedCall, making: Making): Promise<ToolOutcome> {
  const outcome = await attempt(run, planned, making);
  const guarded = guardResult(run, planned, outcome);
  const shown = labelOutcome(planned, guarded instanceof Promise ? await guarded : guarded);
  making.spending.write();
  return shown;
}

function attempt(run: RunState, planned: PlannedCall, making: Making): Promise<ToolOutcome> {
  const { hooks, guards } = run.parts;
  const { address: tool, unreadable: reason } = planned;
  if (reason !== undefined) {
    return Promise.resolve({ status: "failed", error: toFailure("call-unreadable", { tool, reason }) });
  }
  const isGuarded = hasGuardAt(guards, "tool-input");
  return hooks.beforeCall === undefined && hooks.afterCall === undefined && !isGuarded
    ? reach(run, planned, making, toGiven(making, planned.input))
    : makeCallWithHooks(run, planned, making);
}

async function makeCallWithHooks(run: RunState, planned: PlannedCall, making: Making): Promise<ToolOutcome> {
  const { limits } = run.parts;
  const verdict = await judge(run, planned, making);
  let input = verdict !== undefined && "input" in verdict ? verdict.input : planned.input;
  let outcome = await obey(run, planned, making, verdict);
  for (let again = 1; ; again++) {
    const after = await askAfterCall(run, { ...planned, input: toGiven(making, input) }, outcome).catch(
      (cause: unknown) => {
        // The run was stopped during the hook: the outcome of the call is known, and is kept.
        if (run.parts.signal.aborted) return undefined;
        throw cause;
      },
    );
    if (after === undefined) return outcome;
    if (!("again" in after)) return after;
    // A hook that is never content does not make more calls than the run may, nor any after it was stopped.
    if (run.parts.signal.aborted || run.calls + again >= limits.maxCalls) return outcome;
    input = after.again;
    outcome = await obey(run, planned, making, await judgeAgain(run, planned, input));
  }
}

/** What the hook says about a call before it is made. @throws the reason of the signal if the run was stopped meanwhile. */
async function judge(run: RunState, planned: PlannedCall, { approval }: Making): Promise<GuardedVerdict> {
  const isSaid = approval !== undefined && "verdict" in approval;
  const verdict = isSaid ? approval.verdict : await askBeforeCall(run, planned);
  // Stopped while the hook was asked: nothing has begun.
  run.parts.signal.throwIfAborted();
  return verdict;
}

/** What guards say about the input with which a hook has a call made again. */
async function judgeAgain(run: RunState, planned: PlannedCall, input: JsonValue): Promise<GuardedVerdict> {
  if (!hasGuardAt(run.parts.guards, "tool-input")) return { input };
  return (await guardInput(run, planned, input)) ?? { input };
}

async function obey(
  run: RunState,
  planned: PlannedCall,
  making: Making,
  verdict: GuardedVerdict,
): Promise<ToolOutcome> {
  if (verdict === undefined) return reach(run, planned, making, toGiven(making, planned.input));
  if ("deny" in verdict) return denied(planned, verdict.deny);
  if ("outcome" in verdict) return verdict.outcome;
  // If the verdict asks for approval, only an explicit approval of this call lets it through.
  if ("ask" in verdict && making.approval?.decision !== "approve") return denied(planned, verdict.ask);
  return reach(run, planned, making, verdict.input);
}

/** What a call is made with: the approved input if the call was approved, otherwise `input`. */
function toGiven({ approval }: Making, input: JsonValue): JsonValue {
  return approval?.decision === "approve" ? approval.input : input;
}

/** Makes the call at last: through the session, like every other. */
async function reach(run: RunState, planned: PlannedCall, making: Making, input: JsonValue): Promise<ToolOutcome> {
  const { approval, begin, spending } = making;
  if (approval?.decision === "deny") return denied(planned, approval.reason);
  const isApproved = approval?.decision === "approve";
  if (isApproved && !isSame(input, approval.shown) && !isSame(input, approval.input)) {
    return denied(planned, "a hook makes it with another input than the one that was approved");
  }
  const children = new ChildRuns(run, planned, spending);
  const options = toOptions(run, planned, { isApproved, spending, children });
  const given = toGiven(making, input);
  const known = run.changed?.get(`${run.step}.${planned.index}`) ?? planned.input;
  if (!isSame(given, known)) await keepChange(run, planned, given);
  begin();
  const outcome = await callTool(run, planned, given, options);
  if (children.areUsed) await waitForChildren(run, children);
  return keepOrCut(run, planned, { outcome, spending });
}

function callTool(
  run: RunState,
  { dispatch, address }: PlannedCall,
  given: JsonValue,
  options: CallOptions,
): Promise<ToolOutcome> {
  const { longTerm, conversation, session } = run.parts;
  const call = (): Promise<ToolOutcome> =>
    dispatch === undefined ? session.call(address, given, options) : dispatch.run(given, options);
  const place = { run: run.id, conversation: conversation?.id, messages: () => run.messages };
  return longTerm === undefined ? call() : longTerm.during(place, call);
}

/** The outcome of a call, if the journal is to hold it. @throws {CutOff} if a resumed run makes the call again. */
function keepOrCut(
  run: RunState,
  planned: PlannedCall,
  { outcome, spending }: { readonly outcome: ToolOutcome; readonly spending: CallSpending },
): ToolOutcome {
  if (!isCutOff(run, planned, outcome)) return outcome;
  // What a sub-agent used is in its own journal until its call has an outcome.
  if (planned.tool?.code.kind !== "agent") spending.write();
  throw new CutOff(outcome);
}

/**
 * Waits for runs of sub-agents that were cancelled.
 *
 * @throws {CutOff} if one waits for an approval: then the run waits for it, too; what else keeps the call from having an outcome.
 */
async function waitForChildren(run: RunState, children: ChildRuns): Promise<void> {
  await children.ended();
  if (children.failure !== undefined) throw children.failure;
  if (children.waiting.length === 0) return;
  run.waiting.push(...children.waiting);
  throw new CutOff(undefined);
}

/** What a call is made with is written down before it is made, if that is not what the journal says already: the run is its log. */
async function keepChange(run: RunState, { id, index, address: tool }: PlannedCall, given: JsonValue): Promise<void> {
  const call = `${run.step}.${index}`;
  await run.keep(toCallChanged({ run: run.id, step: run.step, call, id, tool }, given));
  (run.changed ??= new Map()).set(call, given);
  // Stopped while it was written: nothing has begun.
  run.parts.signal.throwIfAborted();
}

function isSame(left: JsonValue, right: JsonValue): boolean {
  return left === right || isDeepStrictEqual(left, right);
}

function denied({ address }: PlannedCall, reason: string): ToolOutcome {
  return { status: "failed", error: toFailure("approval-denied", { tool: address, reason }) };
}

function toOptions(
  run: RunState,
  { id, tool }: PlannedCall,
  { isApproved, spending, children }: CallExtras,
): CallOptions {
  const { signal, user, scopes, approve, feed, trace, callers } = run.parts;
  // The run of a sub-agent tells its events itself.
  const isTold = feed.isHeard() && tool?.code.kind !== "agent";
  const { id: runId } = run;
  return {
    signal,
    onSpend: spending.pay,
    agents: children,
    ...(trace?.around() as Pick<CallOptions, "traceparent" | "tracestate"> | undefined),
    ...(user !== undefined && { user }),
    ...(scopes !== undefined && { scopes }),
    ...(isApproved && { approve: approveOnly(approve, callers.length) }),
    ...(!isApproved && approve !== undefined && { approve }),
    ...(isTold && { onEvent: (event) => feed.tell({ type: "call-event", run: runId, id, event }) }),
  };
}

interface CallExtras {
  readonly isApproved: boolean;
  readonly spending: CallSpending;
  readonly children: ChildRuns;
}

/** The decision is about the call itself, which is this deep, and not about calls that its tool makes. */
function approveOnly(approve: Approve | undefined, depth: number): Approve {
  return (request) => {
    if (request.callers.length === depth) return { decision: "approve" };
    if (approve !== undefined) return approve(request);
    if (!request.tool.needsApproval) return { decision: "approve" };
    return { decision: "deny", reason: "the nested call needs its own approval, and no approve function is set" };
  };
}

/** Thrown to keep an outcome out of the journal, so that a resumed run makes the call. */
export class CutOff extends Error {
  /** Nothing if the call waits for an approval. */
  readonly outcome: ToolOutcome | undefined;

  constructor(outcome: ToolOutcome | undefined) {
    super("The call was cut off");
    this.outcome = outcome;
  }
}

/** Whether the run was stopped while the call was made, and the call may be made again. */
function isCutOff({ parts }: RunState, planned: PlannedCall, outcome: ToolOutcome): boolean {
  if (!parts.signal.aborted || !parts.log.isKept || outcome.status === "ok") return false;
  return outcome.error.code === "call-cancelled" && isIdempotent(planned);
}
