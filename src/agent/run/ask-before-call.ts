import { hasGuardAt } from "../../core/guards.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { AgentCall, CallVerdict, OutcomeVerdict } from "../hooks.ts";
import { callHook, refuseVerdict } from "./call-hook.ts";
import { isOutcome } from "./is-outcome.ts";
import type { PlannedCall } from "./plan-calls.ts";
import { guardInput, type GuardedVerdict } from "./run-guards.ts";
import type { RunState } from "./run-state.ts";

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
