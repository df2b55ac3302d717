import type { JsonValue } from "../../core/json.ts";
import type { ApprovalDecided } from "../events.ts";
import type { CallVerdict } from "../hooks.ts";
import { askBeforeCall } from "./ask-before-call.ts";
import type { PlannedCall } from "./plan-calls.ts";
import type { RunState } from "./run-state.ts";

/**
 * What is known about a call before it is made; `undefined` if nothing is. `approve` says what was shown to whoever approved it, and
 * what it is to be made with; `said` is what a hook has said about it already.
 */
export type ApprovalAnswer =
  | undefined
  | { readonly decision: "approve"; readonly shown: JsonValue; readonly input: JsonValue }
  | { readonly decision: "deny"; readonly reason: string }
  | { readonly decision: "said"; readonly verdict: CallVerdict };

/**
 * Finds out whether a call may be made. One that needs an approval, with nobody there to ask, waits: that is written down, and
 * somebody may decide tomorrow, in another process. Hooks say what they say first: what is shown is what will run.
 */
export async function askApproval(
  run: RunState,
  planned: PlannedCall,
  name: string,
): Promise<ApprovalAnswer | "waits"> {
  if (planned.tool?.needsApproval !== true || run.done.has(name)) return undefined;
  const { approve, log } = run.parts;
  const approval = `${run.id}:${name}`;
  const asked = run.asked.get(approval);
  const isSame = asked?.tool === planned.address;
  const decided = run.decided.get(approval);
  if (decided !== undefined && isSame) return toAnswer(decided, asked.input);
  // Asked while the call is made; where nobody can be asked and nothing is kept, it is denied there.
  if (approve !== undefined || !log.isKept) return undefined;
  // Who was asked about another tool was not asked about this one.
  if (!isSame) {
    const verdict = await ask(run, planned, approval);
    if (verdict !== undefined) return { decision: "said", verdict };
  }
  run.waiting.push(approval);
  return "waits";
}

function toAnswer({ decision, reason, input }: ApprovalDecided, shown: JsonValue): ApprovalAnswer {
  if (decision === "deny") return { decision, reason: reason ?? "no reason was given" };
  return { decision, shown, input: input ?? shown };
}

/** Asks somebody to approve a call. Answers with what a hook says about it, if nobody need be asked then. */
async function ask(run: RunState, planned: PlannedCall, approval: string): Promise<CallVerdict> {
  const { hooks, log } = run.parts;
  // Who is asked about a call may take the time: the answer is kept before.
  if (hooks.beforeCall !== undefined) await log.release();
  const verdict = await askBeforeCall(run, planned);
  if (verdict !== undefined && !("input" in verdict)) return verdict;
  const input = verdict?.input ?? planned.input;
  const { id, address: tool } = planned;
  run.asked.set(approval, { tool, input });
  await run.keep({ type: "approval-asked", run: run.id, step: run.step, approval, id, tool, input });
  return undefined;
}
