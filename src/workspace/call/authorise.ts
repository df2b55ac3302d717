import { cloneJson, showValue, type JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { ApprovalDecision, ApprovalRequest, Approve } from "./call-options.ts";
import { guardInput } from "./apply-guards.ts";
import { approverOf, type Next, type Phase, raceStop, refuseUnavailable } from "./phase.ts";
import type { Call } from "./call.ts";
import { checkAgain } from "./check-input.ts";
import { findNamed } from "./name-files.ts";

/** Lets the call go on only if its tool is available and it is approved where it must be. */
export const authorise: Phase = (call, next) => {
  const refused = refuseUnavailable(call);
  if (refused !== undefined) return refused;
  const approve = approverOf(call);
  if (approve !== undefined) return askFirst(call, approve, next);
  if (!call.entry.tool.needsApproval && call.question === undefined) return next();
  const { approveIfNobody } = call.root.options;
  if (approveIfNobody === undefined) return call.fail("approval-missing", { tool: call.address });
  return askFirst(call, approveIfNobody, next);
};

async function askFirst(call: Call, approve: Approve, next: Next): Promise<ToolOutcome> {
  // A person may be asked, and takes as long as a person takes.
  const denied = await call.holdClocks(() => askFor(call, approve));
  return denied ?? next();
}

async function askFor(call: Call, approve: Approve): Promise<FailedOutcome | undefined> {
  if (call.stopped !== undefined) return { status: "failed", error: call.stopped };
  call.emit({ type: "approval-request", call: call.id, tool: call.address, input: cloneJson(inputOf(call)) });
  try {
    const answer = await raceStop(call, Promise.resolve(approve(toRequest(call))));
    if (!answer.ok) return deny(call, "the call ended before the answer came", answer.failure);
    return await applyDecision(call, answer.value);
  } catch (cause) {
    const reason = describeThrown(cause);
    return deny(call, reason, call.fail("approval-failed", { tool: call.address, reason }).error);
  }
}

function toRequest(call: Call): ApprovalRequest {
  return {
    call: call.id,
    ...(call.parentId !== undefined && { parent: call.parentId }),
    callers: call.parent?.chain() ?? [],
    ...(call.user !== undefined && { user: call.user }),
    address: call.address,
    // What a guard asks about needs an approval, whatever the tool says.
    tool: call.question === undefined ? call.entry.tool : { ...call.entry.tool, needsApproval: true },
    input: cloneJson(inputOf(call)),
    ...(call.question !== undefined && { reason: call.question }),
    signal: call.signal,
  };
}

async function applyDecision(call: Call, decision: ApprovalDecision): Promise<FailedOutcome | undefined> {
  switch (decision?.decision) {
    case "deny": {
      const reason = describeThrown(decision.reason ?? "no reason given");
      return deny(call, reason, call.fail("approval-denied", { tool: call.address, reason }).error);
    }
    case "approve": {
      const { input } = decision;
      const failed =
        input === undefined
          ? undefined
          : ((await checkAgain(call, input)) ?? (await guardInput(call)) ?? (await nameAgain(call)));
      if (failed !== undefined) return deny(call, "the input that was approved instead is wrong", failed.error);
      const approved = cloneJson(inputOf(call));
      call.emit({ type: "approval-granted", call: call.id, changed: input !== undefined, input: approved });
      return undefined;
    }
    default:
      throw new TypeError(`the answer was ${showValue(decision)}, not a decision`);
  }
}

/** What another input names was seen by the person who put it there, and must still be what this caller may name. */
async function nameAgain(call: Call): Promise<FailedOutcome | undefined> {
  return call.named.length === 0 && call.entry.tool.files === undefined ? undefined : findNamed(call);
}

function deny(call: Call, reason: string, error: FailedOutcome["error"]): FailedOutcome {
  call.emit({ type: "approval-denied", call: call.id, reason });
  return { status: "failed", error };
}

function inputOf(call: Call): JsonValue {
  return call.checked as JsonValue;
}
