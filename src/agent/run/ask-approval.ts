import type { ApprovalDecision } from "../../workspace/call/approval.ts";
import type { PlannedCall } from "./plan-calls.ts";
import type { RunState } from "./run-state.ts";

/** What somebody said about a call; `undefined` if nobody had to be asked before it is made. */
export type ApprovalAnswer = ApprovalDecision | undefined;

/**
 * Finds out whether a call may be made. One that needs an approval, with nobody there to ask, waits: that is written down, and
 * somebody may decide tomorrow, in another process.
 */
export async function askApproval(
  run: RunState,
  { tool, id, address, input }: PlannedCall,
  name: string,
): Promise<ApprovalAnswer | "waits"> {
  if (tool?.needsApproval !== true) return undefined;
  const { approve, log } = run.parts;
  const approval = `${run.id}:${name}`;
  const decided = run.decided.get(approval);
  if (decided?.decision === "deny") return { decision: "deny", reason: decided.reason ?? "no reason was given" };
  if (decided !== undefined) {
    return { decision: "approve", ...(decided.input !== undefined && { input: decided.input }) };
  }
  // Asked while the call is made; where nobody can be asked and nothing is kept, it is denied there.
  if (approve !== undefined || !log.isKept) return undefined;
  if (!run.asked.has(approval)) {
    run.asked.add(approval);
    await run.keep({ type: "approval-asked", run: run.id, step: run.step, approval, id, tool: address, input });
  }
  run.waiting.push(approval);
  return "waits";
}
