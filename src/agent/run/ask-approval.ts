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
 * What is known about a call before it is made; `undefined` if nothing is. `approve` says what was shown to whoever approved it, and
 * what it is to be made with; `verdict` is what a hook and guards have said about it already.
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
 * Finds out whether a call may be made. One that needs an approval, or about which a guard wants a person asked, waits if nobody is
 * there to ask: that is written down, and somebody may decide tomorrow, in another process. Hooks and guards say what they say first:
 * what is shown is what will run.
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
  // Asked while the call is made; where nobody can be asked and nothing is kept, it is denied there.
  const waits = planned.tool?.needsApproval === true && approve === undefined && log.isKept;
  if (!waits && !hasGuardAt(guards, "tool-input")) return undefined;
  // Who was asked about another tool was not asked about this one.
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
  /** Whether it waits for somebody even if no guard asks. */
  readonly waits: boolean;
}

/** Asks somebody to approve a call. Answers with what is known about it, if nobody need be waited for. */
async function ask(run: RunState, planned: PlannedCall, { approval, waits }: Asking): Promise<ApprovalAnswer> {
  const { hooks, guards, log, approve } = run.parts;
  // Who is asked about a call may take the time: the answer is kept before.
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

/** Writes down that a call waits for somebody. */
async function wait(run: RunState, planned: PlannedCall, question: Question): Promise<undefined> {
  const { id, address: tool } = planned;
  run.asked.set(question.approval, { tool, input: question.input });
  await run.keep({ type: "approval-asked", run: run.id, step: run.step, id, tool, ...question });
}

/** Asks whoever decides about calls, because a guard wants it. */
async function askNow(
  run: RunState,
  { tool, address }: PlannedCall,
  { approval: call, input, reason }: Required<Question>,
): Promise<ApprovalAnswer> {
  const { approve, user, signal } = run.parts;
  const verdict = { input };
  // A tool of Kitbag's own is nothing that can be shown to whoever decides about calls.
  if (approve === undefined || tool === undefined) {
    return { decision: "deny", reason: `${reason}; nobody can be asked`, verdict };
  }
  const asked = { call, callers: [], address, tool: { ...tool, needsApproval: true }, input, reason, signal };
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

/** What the hook says about what came of a call. @throws {KitbagError} `hook-failed` */
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
