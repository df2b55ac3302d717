import { KitbagError, quote } from "../../core/errors.ts";
import { showValue, type JsonObject } from "../../core/json.ts";
import type { Runs } from "../../store/runs/create-runs.ts";
import type { RunEntry } from "../../store/runs/run-records.ts";
import type { Decision } from "../agent-options.ts";
import { foldJournal } from "./fold-journal.ts";

/**
 * Writes down what somebody decided about a call that waits.
 *
 * @throws {KitbagError} `option-invalid` if nothing of this name waits, or it is no decision; `run-leased`, `run-ended`.
 */
export async function decideApproval(runs: Runs, approval: string, decision: Decision): Promise<void> {
  const [, id] = /^(.+):\d+\.\d+$/su.exec(String(approval)) ?? [];
  if (id === undefined) refuse("approval", showValue(approval), '"run:step.call", as the run says what waits');
  if (decision?.decision !== "approve" && decision?.decision !== "deny") {
    refuse("decision", showValue(decision?.decision), '"approve" or "deny"');
  }
  checkWaits(id, approval, await runs.read(id, { limit: 1_000_000 }));
  const run = await runs.open(id);
  try {
    // Somebody else may have decided since.
    checkWaits(id, approval, run.past);
    await run.append([{ type: "approval-decided", run: id, approval, ...toFacts(decision) }]);
  } finally {
    await run.pause();
  }
}

function checkWaits(id: string, approval: string, entries: readonly RunEntry[]): void {
  const { asked, decided } = foldJournal(id, entries);
  if (asked.has(approval) && !decided.has(approval)) return;
  const waiting = [...asked.keys()].filter((one) => !decided.has(one));
  refuse("approval", quote(approval), waiting.length === 0 ? "one that waits, and none does" : waiting.join(" or "));
}

/** What a decision says, and nothing else that somebody sent with it. */
function toFacts({ decision, reason, input, user }: Decision): JsonObject {
  return {
    decision,
    ...(reason !== undefined && { reason: String(reason) }),
    ...(input !== undefined && { input }),
    ...(user !== undefined && { user: String(user) }),
  };
}

function refuse(option: string, found: string, expected: string): never {
  throw new KitbagError("option-invalid", { option, found, expected });
}
