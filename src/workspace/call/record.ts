import type { CallEvent } from "../../core/events.ts";
import { cloneJson, type JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { Store } from "../../core/store.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Call } from "./call.ts";
import type { Next, Phase } from "./phase.ts";
import { redactFailure } from "./redact.ts";

/** The stream of the store's log that calls are recorded in. */
const callStream = "calls";

/**
 * Tells subscribers and the store that the call begins and how it ended. What cannot be recorded does not run. Whoever hears
 * that a call begins hears that it ends, after all the calls inside it.
 */
export const record: Phase = (call, next) => {
  const { store } = call.host;
  return store === undefined ? tellOnly(call, next) : tellAndStore(call, next, store);
};

async function tellOnly(call: Call, next: Next): Promise<ToolOutcome> {
  if (call.isHeard()) call.tell(toStart(call));
  return tellEnd(call, await runToEnd(call, next));
}

async function tellAndStore(call: Call, next: Next, store: Store): Promise<ToolOutcome> {
  const start = toStart(call);
  const unrecorded = await append(call, store, start);
  if (call.isHeard()) call.tell(start);
  // The store need not hear of the end of something that has no beginning there.
  if (unrecorded !== undefined) return tellEnd(call, unrecorded);
  const outcome = await runToEnd(call, next);
  const failed = await append(call, store, toEnd(call, outcome));
  return tellEnd(call, failed ?? outcome);
}

function tellEnd(call: Call, outcome: ToolOutcome): ToolOutcome {
  if (call.isHeard()) call.tell(toEnd(call, outcome));
  return outcome;
}

/** Runs what is inside, and waits for the calls that were left running there. */
async function runToEnd(call: Call, next: Next): Promise<ToolOutcome> {
  let outcome: ToolOutcome;
  try {
    outcome = await next();
  } catch (cause) {
    outcome = redactFailure(call, call.fail("call-crashed", { tool: call.address, reason: describeThrown(cause) }));
  }
  const childrenEnd = call.end();
  if (childrenEnd !== undefined) await childrenEnd;
  return outcome;
}

function toStart(call: Call): CallEvent {
  const { resolution, parentId, user, copy } = call;
  const start: CallEvent = {
    type: "call-start",
    call: call.id,
    ...(parentId !== undefined && { parent: parentId }),
    ...(user !== undefined && { user }),
    tool: call.address,
    ...(resolution.ok && { source: resolution.entry.source, owner: resolution.entry.owner }),
    // The check changes its copy in place, and the tool may do so too.
    input: copy.ok ? cloneJson(copy.value) : null,
    time: Date.now(),
  };
  return call.show(start);
}

/** The outcome has been through `redact`. */
function toEnd(call: Call, outcome: ToolOutcome): CallEvent {
  const tool = call.redactor === undefined ? call.address : call.redactor.text(call.address);
  const recorded = outcome.status === "ok" ? (call.recorded ?? outcome) : outcome;
  return { type: "call-end", call: call.id, tool, outcome: recorded, durationMs: performance.now() - call.startedAt };
}

async function append(call: Call, store: Store, event: CallEvent): Promise<FailedOutcome | undefined> {
  try {
    await store.log.append(callStream, [event as unknown as JsonValue]);
    return undefined;
  } catch (cause) {
    return redactFailure(call, call.fail("store-failed", { reason: describeThrown(cause), ran: call.ran }));
  }
}
