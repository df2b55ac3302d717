import type { CallEvent } from "../../core/events.ts";
import { cloneJson, type JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Call } from "./call.ts";
import type { Phase } from "./phase.ts";

/** The stream of the store's log that calls are recorded in. */
export const callStream = "calls";

/** Tells subscribers and the store that the call begins and how it ended. What cannot be recorded does not run. */
export const record: Phase = async (call, next) => {
  const { store } = call.host;
  if (store !== undefined || call.isHeard()) {
    const failed = await write(call, toStart(call), false);
    if (failed !== undefined) return failed;
  }

  const outcome = await next();

  call.end();
  if (store === undefined && !call.isHeard()) return outcome;
  const end: CallEvent = {
    type: "call-end",
    call: call.id,
    tool: call.address,
    outcome,
    durationMs: performance.now() - call.startedAt,
  };
  return (await write(call, end, true)) ?? outcome;
};

function toStart(call: Call): CallEvent {
  const { entry, parentId, user } = call;
  return {
    type: "call-start",
    call: call.id,
    ...(parentId !== undefined && { parent: parentId }),
    ...(user !== undefined && { user }),
    tool: call.address,
    ...(entry !== undefined && { source: entry.source, owner: entry.owner }),
    // The check changes its copy in place, and the tool may do so too.
    input: call.copy.ok ? cloneJson(call.copy.value) : null,
    time: Date.now(),
  };
}

async function write(call: Call, event: CallEvent, ran: boolean): Promise<ToolOutcome | undefined> {
  call.emit(event);
  const { store } = call.host;
  if (store === undefined) return undefined;
  try {
    await store.log.append(callStream, [call.show(event) as unknown as JsonValue]);
    return undefined;
  } catch (cause) {
    return call.fail("store-failed", { reason: cause instanceof Error ? cause.message : String(cause), ran });
  }
}
