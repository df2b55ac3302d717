import { hasGuardAt } from "../../core/guards.ts";
import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ApprovalDecided } from "../events.ts";
import type { AgentCall, CallVerdict, OutcomeVerdict } from "../hooks.ts";
import { callHook, isOutcome, refuseVerdict } from "./call-hook.ts";
import type { PlannedCall } from "./plan-calls.ts";
import { decide, type GuardedVerdict, guardInput } from "./run-guards.ts";
import type { RunState } from "./run-state.ts";

/**
 * What is known about a call before it is made; `undefined` if nothing is. `approve` holds what the approver was shown, and the
 * input to make the call with; `verdict` is what a hook and guards have already said about it.
 */
export type ApprovalAnswer =
  | undefined
  | (Said & { readonly decision: "approve"; readonly shown: JsonValue; readonly input: JsonValue })
  | (Said & { readonly decision: "deny"; readonly reason: string })
  | { readonly decision: "said"; readonly verdict: GuardedVerdict };

interface Said {
  readonly verdict?: GuardedVerdict;
}

/**
 * Finds out whether a call may be made. A call that needs approval, by its tool or by a guard, waits if the agent has no `approve`
 * function: the wait is written down, and a user may decide tomorrow, in another process. Hooks and guards run first, so the approver
 * is shown exactly what will run.
 */
export async function askApproval(
  run: RunState,
  planned: PlannedCall,
  name: string,
): Promise<ApprovalAnswer | "waits"> {
  if (run.done.has(name)) return undefined;
  const { approve, log, guards } = run.parts;
  const approval = `${run.id}:${name}`;
  const asked = run.asked.get(approval);
  const isSame = asked?.tool === planned.address;
  const decided = run.decided.get(approval);
  if (decided !== undefined && isSame) return toAnswer(decided, asked.input);
  // Otherwise approval is asked for while the call is made; without `approve` and without a journal, the call is denied there.
  const waits = planned.tool?.needsApproval === true && approve === undefined && log.isKept;
  if (!waits && !hasGuardAt(guards, "tool-input")) return undefined;
  // A decision about another tool is no decision about this one.
  if (!isSame) {
    const answer = await ask(run, planned, { approval, waits });
    if (answer !== undefined) return answer;
  }
  run.waiting.push(approval);
  return "waits";
}

function toAnswer({ decision, reason, input }: ApprovalDecided, shown: JsonValue): ApprovalAnswer {
  if (decision === "deny") return { decision, reason: reason ?? "no reason was given" };
  return { decision, shown, input: input ?? shown };
}

interface Asking {
  readonly approval: string;
  /** Whether the call waits for approval even if no guard asks for it. */
  readonly waits: boolean;
}

/** Asks for the approval of a call. Answers with what is known about it, if the run need not wait for a decision. */
async function ask(run: RunState, planned: PlannedCall, { approval, waits }: Asking): Promise<ApprovalAnswer> {
  const { hooks, guards, log, approve } = run.parts;
  // An approver may take time: the model's answer is kept before.
  if (hooks.beforeCall !== undefined || hasGuardAt(guards, "tool-input")) await log.whenSent();
  const verdict = await askBeforeCall(run, planned);
  if (verdict !== undefined && !("input" in verdict)) return { decision: "said", verdict };
  const input = verdict?.input ?? planned.input;
  const reason = reasonOf(verdict);
  if (reason === undefined) return waits ? wait(run, planned, { approval, input }) : { decision: "said", verdict };
  if (approve !== undefined) return askNow(run, planned, { approval, input, reason });
  if (log.isKept) return wait(run, planned, { approval, input, reason });
  return { decision: "deny", reason: `${reason}; there is no person to ask`, verdict: { input } };
}

function reasonOf(verdict: GuardedVerdict): string | undefined {
  return verdict !== undefined && "ask" in verdict ? verdict.ask : undefined;
}

interface Question {
  readonly approval: string;
  readonly input: JsonValue;
  /** Why a guard asks, if one does. */
  readonly reason?: string;
}

/** Writes down that a call waits for approval. */
async function wait(run: RunState, planned: PlannedCall, question: Question): Promise<undefined> {
  const { id, address: tool } = planned;
  run.asked.set(question.approval, { tool, input: question.input });
  await run.keep({ type: "approval-asked", run: run.id, step: run.step, id, tool, ...question });
}

/** Asks the agent's `approve` function, because a guard demands it. */
async function askNow(
  run: RunState,
  { tool, address }: PlannedCall,
  { approval: call, input, reason }: Required<Question>,
): Promise<ApprovalAnswer> {
  const { approve, user, signal } = run.parts;
  const verdict = { input };
  // A built-in tool of Kitbag has no definition that the approver could be shown.
  if (approve === undefined || tool === undefined) {
    return { decision: "deny", reason: `${reason}; the call cannot be approved here`, verdict };
  }
  const asked = {
    call,
    callers: run.parts.callers,
    address,
    tool: { ...tool, needsApproval: true },
    input,
    reason,
    signal,
  };
  const decision = await decide(approve, user === undefined ? asked : { ...asked, user }, signal);
  if (decision.decision === "deny") return { ...decision, verdict };
  return { decision: "approve", shown: input, input: (decision.input as JsonValue | undefined) ?? input, verdict };
}

/** A call as hooks see it. */
function toAgentCall(run: RunState, { id, address, input }: PlannedCall): AgentCall {
  return { run: run.id, step: run.step, id, tool: address, input };
}

/** What the hook, and then the guards, say about a call before it is made. @throws {KitbagError} `hook-failed` */
export async function askBeforeCall(run: RunState, planned: PlannedCall): Promise<GuardedVerdict> {
  const verdict = await askHook(run, planned);
  if (!hasGuardAt(run.parts.guards, "tool-input")) return verdict;
  if (verdict === undefined) return guardInput(run, planned, planned.input);
  return "input" in verdict ? ((await guardInput(run, planned, verdict.input)) ?? verdict) : verdict;
}

async function askHook(run: RunState, planned: PlannedCall): Promise<CallVerdict> {
  const { hooks, signal } = run.parts;
  const { beforeCall } = hooks;
  if (beforeCall === undefined) return undefined;
  const verdict: unknown = await callHook(signal, "beforeCall", () => beforeCall(toAgentCall(run, planned)));
  if (verdict === undefined || verdict === null) return undefined;
  return isCallVerdict(verdict)
    ? verdict
    : refuseVerdict("beforeCall", verdict, "{ input }, { deny }, { outcome } or nothing");
}

/** Asks the `afterCall` hook about the outcome of a call. @throws {KitbagError} `hook-failed` */
export async function askAfterCall(
  run: RunState,
  planned: PlannedCall,
  outcome: ToolOutcome,
): Promise<Exclude<OutcomeVerdict, void> | undefined> {
  const { hooks, signal } = run.parts;
  const { afterCall } = hooks;
  if (afterCall === undefined) return undefined;
  const verdict: unknown = await callHook(signal, "afterCall", () => afterCall(toAgentCall(run, planned), outcome));
  if (verdict === undefined || verdict === null) return undefined;
  if (isAgain(verdict) || isOutcome(verdict)) return verdict;
  return refuseVerdict("afterCall", verdict, "an outcome, { again } or nothing");
}

function isCallVerdict(verdict: unknown): verdict is NonNullable<CallVerdict> {
  if (typeof verdict !== "object" || verdict === null) return false;
  if ("deny" in verdict) return typeof verdict.deny === "string";
  if ("outcome" in verdict) return isOutcome(verdict.outcome);
  return "input" in verdict && verdict.input !== undefined;
}

function isAgain(verdict: unknown): verdict is Extract<OutcomeVerdict, { readonly again: unknown }> {
  return typeof verdict === "object" && verdict !== null && "again" in verdict && verdict.again !== undefined;
}
