import { findTwin } from "./drafts/check-name.ts";
import type { ForgeParts } from "./forge-parts.ts";
import type { RefusedTool, TrialOptions } from "./forge-interface.ts";
import { ownershipOf } from "./owners.ts";
import { findAuthor } from "../workspace/call/authority.ts";
import { refuseDraft, toReasons } from "./birth/answer.ts";
import type { ForgedEntry } from "./live/live-tools.ts";

/** Why there cannot be a new tool of this name; one that was deleted can be made anew, and goes on with its versions. */
export function refuseTaken(
  { folder, live, workspace, policy }: ForgeParts,
  name: string,
  { call }: Pick<TrialOptions, "call"> | { readonly call?: undefined },
): RefusedTool | undefined {
  const refuse = (code: string, message: string): RefusedTool =>
    refuseDraft(name, [{ severity: "error", code, message, file: "draft" }]);
  const { names } = folder.list();
  const twin = findTwin(name, [...names, ...workspace.getAvailableTools().map(({ tool }) => tool.name)]);
  if (twin !== undefined)
    return refuse("name-taken", `there is "${twin}", which is the same name where case does not count`);
  const entry = live.find(name);
  const { user } = findAuthor(call);
  if (entry !== undefined && user !== undefined && ownershipOf(entry.stored).owner !== workspace.ownerOf(user)) {
    return refuse("name-taken", "the name is taken; take another name");
  }
  if (entry !== undefined && entry.status !== "deleted") return refuse("name-taken", describeTaken(entry));
  const other = workspace.getTool(name);
  if (other?.address === name || other?.wireName === name) {
    return refuse("name-taken", `there is already a tool of this name, which was not made here; take another name`);
  }
  if (names.length < policy.maxTools || names.includes(name)) return undefined;
  return refuse("tools-full", `there are ${names.length} tools, and ${policy.maxTools} may be; delete some first`);
}

/** What is there under the name, and what to do instead. */
function describeTaken({ stored: { current }, status, diagnostics }: ForgedEntry): string {
  if (current === undefined) {
    return ["there is already a tool of this name, which is broken", ...toReasons(diagnostics)].join("\n");
  }
  return `there is already a tool of this name (${current.label}, ${status}); use update_tool, or take another name`;
}
