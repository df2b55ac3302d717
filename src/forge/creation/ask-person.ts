import { joinPermissions, type Permissions } from "../../core/permissions.ts";
import type { ToolAuthor, Tool } from "../../core/tool.ts";
import type { ForgeParts } from "../forge-parts.ts";
import type { RefusedTool, WaitingTool, ForgeDiagnostic } from "../forge-interface.ts";
import { isNothing, permissionsBeyond } from "../permissions-beyond.ts";
import type { WaitingDraft } from "../waiting-drafts.ts";
import { refuseDraft } from "./answer.ts";
import { mayCallTool, toToolScopes } from "../../core/scopes.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";

/** What a person has agreed to. */
export type Agreed = Pick<WaitingTool, "asks" | "laxer">;

/** A draft that wants something. */
export interface Wish {
  readonly draft: WaitingDraft["draft"];
  readonly asked: Permissions;
  /** What else it asks for: see {@link WaitingTool}. */
  readonly laxer?: readonly string[];
  /** What a person has agreed to. */
  readonly agreed?: Agreed | undefined;
  /** The version that it is an edit of. */
  readonly from?: string | undefined;
  readonly author?: ToolAuthor | undefined;
}

/** What a draft answers with that asks for more than it may have; nothing if it does not, or a person has agreed. */
export async function holdBack(parts: ForgeParts, wish: Wish): Promise<RefusedTool | WaitingTool | undefined> {
  const { draft, asked, agreed, from, author } = wish;
  const { policy, waiting, approve, folder } = parts;
  const granted = joinPermissions([policy.permissions, agreed?.asks ?? {}]);
  const asks = permissionsBeyond(asked, granted, { directory: folder.directory });
  const laxer = (wish.laxer ?? []).filter((one) => agreed?.laxer?.includes(one) !== true);
  if (isNothing(asks) && laxer.length === 0) return undefined;
  const kept = waiting.keep(draft, { asks, ...(laxer.length > 0 && { laxer }), from, author });
  const answer = approve === undefined ? undefined : await approve(kept);
  if (answer === undefined) return kept;
  waiting.remove(kept.id);
  if (answer) return undefined;
  const message = isNothing(asks)
    ? `it was denied: ${laxer.join("; ")}; leave that as it is`
    : "the permissions that it asks for were denied; make it with fewer";
  return refuseDraft(draft.name, [{ severity: "error", code: "approval-denied", message, file: "draft" }]);
}

/** The tools that a draft wants to call. */
interface WantedUses {
  readonly uses: readonly string[];
  /** Whether code calls them, which may do so with any input; else the steps of a pipeline do, which a person can read. */
  readonly isCode: boolean;
  readonly author: ToolAuthor;
  /** What the version before was allowed to call. */
  readonly before?: readonly string[];
}

/** What is wrong with the tools that a draft wants to call; and if nothing is, which calls a person must agree to, in words. */
type CheckedUses =
  | { readonly ok: true; readonly asks: readonly string[] }
  | { readonly ok: false; readonly diagnostics: readonly ForgeDiagnostic[] };

/** Checks the tools that a draft wants to call: they must be there, be callable by code, and be callable by the author. */
export function checkUses({ workspace, policy }: ForgeParts, wanted: WantedUses): CheckedUses {
  const { uses, isCode, author, before = [] } = wanted;
  const known = workspace.getAvailableTools().map(({ address }) => address);
  const asks: string[] = [];
  const diagnostics: ForgeDiagnostic[] = [];
  for (const address of new Set(uses)) {
    const entry = workspace.getTool(address);
    const wrong = entry === undefined ? describeMissing(address, known) : describeRefused(entry, author);
    if (wrong !== undefined)
      diagnostics.push({ severity: "error", code: "use-invalid", message: wrong, file: "draft" });
    const isAsked = isCode ? !policy.uses.includes(address) : entry?.tool.needsApproval === true;
    if (isAsked && !before.includes(address)) asks.push(`to call ${address}`);
  }
  return diagnostics.length > 0 ? { ok: false, diagnostics } : { ok: true, asks };
}

function describeMissing(address: string, known: readonly string[]): string {
  const [nearest] = nearestNames(address, known, 1);
  return `it wants to call "${address}", which is not there${nearest === undefined ? "" : `; did you mean "${nearest}"?`}`;
}

function describeRefused(entry: RegisteredTool, { user = "its author", scopes }: ToolAuthor): string | undefined {
  const { address, tool } = entry;
  if (tool.meta === true || tool.code.kind === "code") {
    return `it wants to call "${address}", which only people, models and host code may call; leave that call out`;
  }
  if (mayCallTool(scopes === "all" ? scopes : new Set(scopes), entry)) return undefined;
  return `it wants to call "${address}", which ${user} may not call: that needs one of the scopes ${toToolScopes(entry).join(", ")}`;
}

/**
 * What an edit takes back of what a tool promised to those who let it be called: a person decides about that, as about permissions.
 * A caller who may not call what destroys, or only what reads, could otherwise edit it first.
 */
export function findLaxer(before: Tool, after: Tool): readonly string[] {
  const [was, is] = [before.annotations, after.annotations];
  const gained = was.readOnly === true ? permissionsBeyond(after.permissions, before.permissions) : after.permissions;
  return [
    ...(before.needsApproval && !after.needsApproval ? ["calls without an approval"] : []),
    ...(was.destructive === true && is.destructive !== true ? ["not to count as destructive"] : []),
    ...(is.readOnly === true && mayChange(gained) ? ["to count as read-only"] : []),
  ];
}

/** The same for tools that have the same name in two versions of a skill. */
export function findLaxerTools(before: readonly Tool[], after: readonly Tool[]): readonly string[] {
  return after.flatMap((tool) => {
    const known = before.find(({ name }) => name === tool.name);
    return known === undefined ? [] : findLaxer(known, tool).map((one) => `${tool.name}: ${one}`);
  });
}

/** What may touch nothing changes nothing, whatever it says of itself. */
function mayChange({ write = [], network = [], run = [] }: Permissions): boolean {
  return write.length + network.length + run.length > 0;
}
