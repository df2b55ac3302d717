import { KitbagError } from "../../core/errors.ts";
import type { ToolState } from "../../core/tool-state.ts";
import type { Call } from "../call/call.ts";

/** Opens what the called tool keeps for itself. */
export function openToolState(call: Call): ToolState {
  return open(call, scopeOf(call));
}

/** Opens what the called tool shares with the other tools of its owner; one of the workspace itself is alone. */
export function openOwnerState(call: Call): ToolState {
  const { source, owner } = call.entry;
  if (source === "global") return openToolState(call);
  return open(call, `owner:${owner}`);
}

/** What the user of the call keeps there. */
function open(call: Call, scope: string): ToolState {
  const { states, users } = call.host;
  return states.open({ scope, owner: users.ownerOf(call.user) }, () => checkRunning(call));
}

/** Names have no ":" and no "/", so no two tools have the same scope. */
function scopeOf({ found: { entry, partOf } }: Call): string {
  if (partOf === undefined) return `tool:${entry.address}`;
  return `part:${partOf.address}/${entry.tool.name}`;
}

function checkRunning({ stopped, ended, address }: Call): void {
  if (stopped !== undefined) throw new KitbagError(stopped.code, stopped.details);
  if (ended) throw new KitbagError("call-cancelled", { tool: address, reason: "the call is over" });
}
