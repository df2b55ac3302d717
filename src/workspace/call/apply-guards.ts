import { longestTimerMs } from "../../core/async.ts";
import { hasGuardAt, judge, shownOf, withShown, type GuardAct, type Guarded, type Judged } from "../../core/guards.ts";
import type { JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { createTool } from "../../core/define-tool.ts";
import { describeThrown } from "../describe-thrown.ts";
import { approverOf, type Phase, raceStop } from "./phase.ts";
import type { Call } from "./call.ts";
import { checkAgain } from "./check-input.ts";
import { toOutcome } from "./guard.ts";

type Place = Extract<Guarded["place"], "tool-input" | "tool-output">;

/**
 * Shows the guards of the workspace what a tool is called with, and what comes of it. What a guard wants a person to be asked about
 * is asked with the approval of the call.
 */
export const applyGuards: Phase = async (call, next) => {
  const refused = await guardInput(call);
  if (refused !== undefined) return refused;
  const outcome = await next();
  return hasGuardAt(call.host.guards, "tool-output") ? guardOutcome(call, outcome) : outcome;
};

/** Shows the guards what a tool is called with now: the caller's input, or one that was approved in its place. */
export async function guardInput(call: Call): Promise<FailedOutcome | undefined> {
  if (!hasGuardAt(call.host.guards, "tool-input")) return undefined;
  const given = call.checked as JsonValue;
  const { value, refused, asked } = await look(call, "tool-input", given);
  if (refused !== undefined) return refuse(call, refused);
  call.question = asked?.reason;
  return value === given ? undefined : checkAgain(call, value);
}

async function guardOutcome(call: Call, outcome: ToolOutcome): Promise<ToolOutcome> {
  const shown = shownOf(outcome);
  const { value, refused, asked } = await look(call, "tool-output", shown);
  if (refused !== undefined) return refuse(call, refused);
  const denied = asked && (await ask(call, asked.reason as string, value));
  if (asked !== undefined && denied !== undefined) return refuse(call, { ...asked, reason: denied });
  if (value === shown) return outcome;
  try {
    return { ...outcome, ...toOutcome(call, withShown(outcome, value)) };
  } catch (cause) {
    const reason = `a guard put something else in its place: ${describeThrown(cause)}`;
    return call.fail("guard-refused", { guard: "tool-output", place: "tool-output", reason });
  }
}

async function look(call: Call, place: Place, value: JsonValue): Promise<Judged> {
  const { user, address: tool } = call;
  const asked = judge(call.host.guards, { place, value, tool, ...(user !== undefined && { user }) });
  const judged = await inTime(call, place, asked);
  for (const act of judged.acts) call.emit({ type: "guard-acted", call: call.id, ...act });
  return judged;
}

/** Guards have as long as the call may take, and no longer than it is wanted; then what they look at does not pass. */
function inTime(call: Call, place: Place, asked: Promise<Judged>): Promise<Judged> {
  return new Promise((resolve) => {
    const give = (reason: string): void => {
      const refused: GuardAct = { guard: place, place, verdict: "refuse", reason };
      resolve({ value: null, refused, acts: [refused] });
    };
    const timer = setTimeout(() => give("the guards did not answer in time"), Math.min(call.limitMs, longestTimerMs));
    const stop = (): void => give("the call was stopped before the guards answered");
    if (call.stopped === undefined) call.signal.addEventListener("abort", stop);
    // The guards also check the output of a call that was stopped.
    else if (place === "tool-input") stop();
    void asked.then(resolve).finally(() => {
      clearTimeout(timer);
      call.signal.removeEventListener("abort", stop);
    });
  });
}

function refuse(call: Call, { guard, place, reason = "" }: GuardAct): FailedOutcome {
  return call.fail("guard-refused", { guard, place, reason });
}

/** Asks for approval of the output of a call. Returns the reason if it is denied. */
async function ask(call: Call, reason: string, value: JsonValue): Promise<string | undefined> {
  const approve = approverOf(call) ?? call.root.options.approveIfNobody;
  if (approve === undefined) return `${reason}; there is no person to ask`;
  const { id, address, signal, user } = call;
  const tool = createTool({
    name: "guarded-output",
    description: question,
    code: { kind: "guard" },
    needsApproval: true,
  });
  const request = { call: id, callers: call.parent?.chain() ?? [], address, tool, input: value, reason, signal };
  try {
    const asked = Promise.resolve(approve({ ...request, ...(user !== undefined && { user }) }));
    const answer = await call.holdClocks(() => raceStop(call, asked));
    if (!answer.ok) return answer.failure.message;
    return answer.value?.decision === "approve" ? undefined : (answer.value?.reason ?? reason);
  } catch (cause) {
    return describeThrown(cause);
  }
}

const question = "A guard asks whether this output may be handed over";
