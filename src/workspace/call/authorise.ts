import { cloneJson, copyJson, maxJsonDepth, showValue, type JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";
import type { ApprovalDecision, ApprovalRequest, Approve } from "./approval.ts";
import type { Call } from "./call.ts";
import { checkFor } from "./check-input.ts";
import type { Phase } from "./phase.ts";
import { raceStop } from "./race-stop.ts";

/** Lets the call go on only if its tool is available and whoever must approve it does. */
export const authorise: Phase = async (call, next) => {
  const { entry } = call;
  if (entry === undefined) return next();
  const refused = refuseUnavailable(call);
  if (refused !== undefined) return refused;
  const approve = call.options.approve ?? call.root.options.approve ?? call.host.approve;
  if (approve === undefined) {
    return entry.tool.needsApproval ? call.fail("approval-missing", { tool: call.address }) : next();
  }
  return (await askFor(call, entry.tool, approve)) ?? next();
};

/** A failed outcome if the tool of `call` is gone or its skill is closed. */
export function refuseUnavailable(call: Call): FailedOutcome | undefined {
  const { entry, host } = call;
  if (entry === undefined) return undefined;
  if (!host.registry.isAvailable(entry))
    return call.fail("tool-unavailable", { tool: call.address, owner: entry.owner });
  const caller = call.parent?.entry;
  if (caller?.source !== "skill" || host.skills.mayUse(caller.owner, entry)) return undefined;
  return call.fail("tool-undeclared", { tool: call.address, skill: caller.owner });
}

async function askFor(call: Call, tool: Tool, approve: Approve): Promise<ToolOutcome | undefined> {
  const input = call.checked as JsonValue;
  call.emit({ type: "approval-request", call: call.id, tool: call.address, input: cloneJson(input) });
  const request: ApprovalRequest = {
    call: call.id,
    ...(call.parentId !== undefined && { parent: call.parentId }),
    ...(call.user !== undefined && { user: call.user }),
    address: call.address,
    tool,
    input: cloneJson(input),
    signal: call.signal,
  };
  let decision: ApprovalDecision;
  try {
    const answer = await raceStop(call, Promise.resolve(approve(request)));
    if (!answer.ok) return { status: "failed", error: answer.failure };
    decision = answer.value;
  } catch (cause) {
    return denied(call, "approval-failed", cause instanceof Error ? cause.message : String(cause));
  }
  return applyDecision(call, tool, decision);
}

async function applyDecision(call: Call, tool: Tool, decision: ApprovalDecision): Promise<ToolOutcome | undefined> {
  switch (decision?.decision) {
    case "deny":
      return denied(call, "approval-denied", String(decision.reason ?? "no reason given"));
    case "approve": {
      const changed = decision.input !== undefined;
      const failed = changed ? await replaceInput(call, tool, decision.input) : undefined;
      if (failed !== undefined) return failed;
      call.emit({ type: "approval-granted", call: call.id, changed, input: cloneJson(call.checked as JsonValue) });
      return undefined;
    }
    default:
      return denied(call, "approval-failed", `the answer was ${showValue(decision)}, not a decision`);
  }
}

async function replaceInput(call: Call, tool: Tool, input: unknown): Promise<FailedOutcome | undefined> {
  const copy = copyJson(input, { maxBytes: call.limit("maxInputBytes"), maxDepth: maxJsonDepth });
  if (copy.ok) return checkFor(call, tool, copy.value);
  const problem = copy.reason === "not-json" ? copy.problem : { path: "", expected: "a smaller input", found: "more" };
  return call.fail("input-invalid", { tool: call.address, problems: [problem] });
}

function denied(call: Call, code: "approval-denied" | "approval-failed", reason: string): FailedOutcome {
  call.emit({ type: "approval-denied", call: call.id, reason });
  return call.fail(code, { tool: call.address, reason });
}
