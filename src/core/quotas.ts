/** What a user may use only so much of. Calls, tokens, dollars and drafts are counted by the day, in UTC; the others as they are now. */
export const quotaNames = ["calls", "concurrent", "tokens", "dollars", "bytes", "drafts"] as const;

/** The name of a quota. */
export type QuotaName = (typeof quotaNames)[number];

/** Those that start again each day. */
export type DailyQuota = "calls" | "tokens" | "dollars" | "drafts";

/** Where a quota was set. */
export interface QuotaOrigin {
  readonly by: "command" | "configuration";
  readonly for: "user" | "each";
}

/** A user who has quotas. */
export interface Account {
  /** The user's name; `local` for the local user, whatever other name they have. */
  readonly user: string;
  /** The name as a part of a key. */
  readonly key: string;
  readonly limits: { readonly [Name in QuotaName]?: number };
  readonly origins: { readonly [Name in QuotaName]?: QuotaOrigin };
}
