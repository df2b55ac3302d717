import type { JsonObject } from "../../core/json.ts";
import type { Sealer } from "../../records/audit/audit-keys.ts";
import type { ApprovalAsked, ApprovalDecided } from "../events.ts";

/** What the approver of a call was shown. */
export type AskedApproval = Pick<ApprovalAsked, "tool" | "input">;

/** The seal of a decision: about this call of this run, with the tool and the input that were shown. */
export function sealDecision(sealer: Sealer, decided: ApprovalDecided, { tool, input }: AskedApproval): string {
  const { seal: _seal, ...said } = decided;
  return sealer.seal({ decided: said as unknown as JsonObject, tool, input });
}

/** Tells whether a decision counts: it was sealed with the key. Without a key the store is believed as it is. */
export function isGenuine(sealer: Sealer | undefined, decided: ApprovalDecided, asked: AskedApproval): boolean {
  return sealer === undefined || decided.seal === sealDecision(sealer, decided, asked);
}
