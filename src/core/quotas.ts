/** What a user may use only so much of. Calls, tokens, dollars and drafts are counted by the day, in UTC; the others as they are now. */
export const quotaNames = ["calls", "concurrent", "tokens", "dollars", "bytes", "drafts"] as const;

/** The name of a quota. */
export type QuotaName = (typeof quotaNames)[number];

/** Those that start again each day. */
export type DailyQuota = "calls" | "tokens" | "dollars" | "drafts";
