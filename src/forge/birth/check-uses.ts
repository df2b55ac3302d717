import { mayCallTool, toToolScopes } from "../../core/scopes.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { ToolAuthor } from "../../core/tool.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { ForgeDiagnostic } from "../forge-interface.ts";
import type { ForgeParts } from "../forge-parts.ts";

/** The tools that a draft wants to call. */
export interface WantedUses {
  readonly uses: readonly string[];
  /** Whether code calls them, which may do so with any input; else the steps of a pipeline do, which a person can read. */
  readonly isCode: boolean;
  readonly author: ToolAuthor;
  /** What the version before was allowed to call. */
  readonly before?: readonly string[];
}

/** What is wrong with the tools that a draft wants to call; and if nothing is, which calls a person must agree to, in words. */
export type CheckedUses =
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
