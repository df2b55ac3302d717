import type { Approve } from "./approval.ts";
import type { Call } from "./call.ts";

/** Who decides on a call, if the caller or the workspace says so. */
export function approverOf(call: Call): Approve | undefined {
  return call.options.approve ?? call.root.options.approve ?? call.host.approve;
}
