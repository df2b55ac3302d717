import { joinPermissions, type Permissions } from "../../core/permissions.ts";
import type { ToolAuthor } from "../../core/tool.ts";
import type { ForgeParts } from "../forge-parts.ts";
import type { RefusedTool, WaitingTool } from "../forge-interface.ts";
import { isNothing, permissionsBeyond } from "../permissions-beyond.ts";
import type { WaitingDraft } from "../waiting-drafts.ts";
import { refuseDraft } from "./answer.ts";

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
