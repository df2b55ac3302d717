import type { CallEvent } from "../../core/events.ts";
import { cloneJson, type JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Call } from "./call.ts";
import type { Phase } from "./phase.ts";
import { redactFailure } from "./redact.ts";

/** The stream of the store's log that calls are recorded in. */
export const callStream = "calls";

/**
 * Tells subscribers and the store that the call begins and how it ended. What cannot be recorded does not run. Whoever hears
 * that a call begins hears that it ends, after all the calls inside it.
 */
export const record: Phase = async (call, next) => {
  try {
    const unrecorded = await recordStart(call);
    const outcome = unrecorded ?? (await runSafely(call, next));
    const childrenEnd = call.end();
    if (childrenEnd !== undefined) await childrenEnd;
    // The end of something that has no beginning would say nothing.
    const failed = unrecorded === undefined ? await append(call, () => toEnd(call, outcome)) : undefined;
    if (call.isHeard()) call.tell(toEnd(call, failed ?? outcome));
    return failed ?? outcome;
  } finally {
    call.parent?.release(call);
  }
};

async function runSafely(call: Call, next: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await next();
  } catch (cause) {
    return redactFailure(call, call.fail("call-crashed", { tool: call.address, reason: describeThrown(cause) }));
  }
}

async function recordStart(call: Call): Promise<FailedOutcome | undefined> {
  const { store } = call.host;
  const isHeard = call.isHeard();
  if (store === undefined && !isHeard) return undefined;
  const start = call.show(toStart(call, isHeard));
  const failed = await append(call, () => start);
  if (isHeard) call.tell(start);
  return failed;
}

function toStart(call: Call, isHeard: boolean): CallEvent {
  const { resolution, parentId, user } = call;
  const input = call.copy.ok ? call.copy.value : null;
  return {
    type: "call-start",
    call: call.id,
    ...(parentId !== undefined && { parent: parentId }),
    ...(user !== undefined && { user }),
    tool: call.address,
    ...(resolution.ok && { source: resolution.entry.source, owner: resolution.entry.owner }),
    // The check changes its copy in place, and the tool may do so too; a store makes a copy of its own.
    input: isHeard ? cloneJson(input) : input,
    time: Date.now(),
  };
}

/** The outcome has been through `redact`. */
function toEnd(call: Call, outcome: ToolOutcome): CallEvent {
  const tool = call.redactor === undefined ? call.address : call.redactor.text(call.address);
  const recorded = outcome.status === "ok" ? (call.recorded ?? outcome) : outcome;
  return { type: "call-end", call: call.id, tool, outcome: recorded, durationMs: performance.now() - call.startedAt };
}

async function append(call: Call, toEvent: () => CallEvent): Promise<FailedOutcome | undefined> {
  const { store } = call.host;
  if (store === undefined) return undefined;
  try {
    await store.log.append(callStream, [toEvent() as unknown as JsonValue]);
    return undefined;
  } catch (cause) {
    return redactFailure(call, call.fail("store-failed", { reason: describeThrown(cause), ran: call.ran }));
  }
}
