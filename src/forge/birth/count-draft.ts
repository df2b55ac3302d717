import { isKitbagError } from "../../core/errors.ts";
import { findAuthor } from "../../workspace/call/authority.ts";
import type { RefusedTool, TrialOptions } from "../forge-interface.ts";
import type { ForgeParts } from "../forge-parts.ts";
import { refuseWith } from "./answer.ts";

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
