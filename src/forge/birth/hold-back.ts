import { joinPermissions, type Permissions } from "../../core/permissions.ts";
import type { ForgeParts } from "../forge-parts.ts";
import type { RefusedTool, WaitingTool } from "../forge-interface.ts";
import { isNothing, permissionsBeyond } from "../permissions-beyond.ts";
import type { WaitingDraft } from "../waiting-drafts.ts";
import { refuseDraft } from "./answer.ts";

/** A draft that wants something. */
export interface Wish {
  readonly draft: WaitingDraft["draft"];
  readonly asked: Permissions;
  /** What a person has granted beyond the policy. */
  readonly granted?: Permissions | undefined;
  /** The version that it is an edit of. */
  readonly from?: string | undefined;
  readonly author?: string | undefined;
}

/** What a draft answers with that asks for more than it may have; nothing if it does not, or a person has agreed. */
export async function holdBack(parts: ForgeParts, wish: Wish): Promise<RefusedTool | WaitingTool | undefined> {
  const { draft, asked, granted = {}, from, author } = wish;
  const { policy, waiting, approve } = parts;
  const asks = permissionsBeyond(asked, joinPermissions([policy.permissions, granted]));
  if (isNothing(asks)) return undefined;
  const kept = waiting.keep(draft, { asks, from, author });
  const answer = approve === undefined ? undefined : await approve(kept);
  if (answer === undefined) return kept;
  waiting.remove(kept.id);
  if (answer) return undefined;
  const message = "the permissions that it asks for were denied; make it with fewer";
  return refuseDraft(draft.name, [{ severity: "error", code: "approval-denied", message, file: "draft" }]);
}
