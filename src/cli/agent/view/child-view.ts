import type { CallChanged, ChildEvent, ToolEnd, ToolStart } from "../../../agent/events.ts";
import type { CallEvent } from "../../../core/events.ts";

/** Where calls are shown. */
export interface ShownCalls {
  start(event: ToolStart): void;
  /** It is made with another input. */
  change(event: CallChanged): void;
  onEvent(id: string, event: CallEvent): void;
  /** `depth` says how many levels of sub-agents it is below the run that is shown. */
  end(event: ToolEnd, depth?: number): void;
}

/**
 * Shows what sub-agents do: their calls, further in than the call of the sub-agent. What their models say is for the agent that called
 * them.
 */
export function createChildView(calls: ShownCalls): (event: ChildEvent["event"]) => void {
  return (event) => {
    if (event.type === "tool-start") calls.start({ ...event, id: toKey(event) });
    if (event.type === "call-changed") calls.change({ ...event, id: toKey(event) });
    if (event.type === "call-event") calls.onEvent(toKey(event), event.event);
    if (event.type === "tool-end") calls.end({ ...event, id: toKey(event) }, event.run.split("~").length - 1);
  };
}

/** Calls of several runs may have the same id. */
function toKey({ run, id }: { readonly run: string; readonly id: string }): string {
  return `${run} ${id}`;
}
