import { KitbagError, isKitbagError } from "../../core/errors.ts";
import type { Tool } from "../../core/tool.ts";
import { findLimitedCaller, findAuthor } from "../../workspace/call/authority.ts";
import type { RefusedTool, TrialOptions } from "../forge-interface.ts";
import { refuseWith, refuseDraft, toReasons } from "./answer.ts";
import type { ForgeParts } from "../forge-parts.ts";
import { findTwin } from "../disk/tools-folder.ts";
import { ownershipOf } from "../owners.ts";
import type { ForgedEntry } from "../live/live-tools.ts";

/** Tools that a caller wants to change. */
interface Changed {
  /** Of the tool or the skill that is changed. */
  readonly name: string;
  /** As they are. */
  readonly tools: readonly Tool[];
  /** The skill that they belong to. */
  readonly skill?: string;
}

/**
 * Refuses to change tools that the caller may not call: the examples of an edit are calls with inputs that the caller chooses. Nothing if
 * the caller may.
 */
export function refuseCaller(
  { name, tools, skill }: Changed,
  { call }: Pick<TrialOptions, "call"> | { readonly call?: undefined },
): RefusedTool | undefined {
  const caller = findLimitedCaller(call);
  for (const tool of caller === undefined ? [] : tools) {
    const address = skill === undefined ? tool.name : `${skill}/${tool.name}`;
    const owner =
      skill === undefined ? { source: "global" as const, owner: "global" } : { source: "skill" as const, owner: skill };
    const failure = caller?.refuse({ tool, address, wireName: address, ...owner });
    if (failure !== undefined) return refuseWith(name, new KitbagError(failure.code, failure.details));
  }
  return undefined;
}

/**
 * Counts a draft that is about to be built and tried, and refuses it if its author has made as many today as they may. Edits count, and
 * drafts that do not pass; what is wrong at first sight does not, nor what a person approves later.
 */
export async function countDraft(
  { workspace: { quotas } }: Pick<ForgeParts, "workspace">,
  name: string,
  { call }: Pick<TrialOptions, "call"> | { readonly call?: undefined },
): Promise<RefusedTool | undefined> {
  const account = quotas.of(findAuthor(call).user);
  if (account?.limits.drafts === undefined) return undefined;
  try {
    await quotas.spend(account, "drafts", 1);
    return undefined;
  } catch (cause) {
    if (isKitbagError(cause, "quota-reached")) return refuseWith(name, cause);
    throw cause;
  }
}

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
