import { KitbagError, quote } from "../../core/errors.ts";
import type { Runs } from "../../store/runs/create-runs.ts";
import type { Decision } from "../agent-options.ts";
import { foldJournal } from "./fold-journal.ts";

/**
 * Writes down what somebody decided about a call that waits.
 *
 * @throws {KitbagError} `option-invalid` if nothing of this name waits, or it is no decision; `run-leased`, `run-ended`.
 */
export async function decideApproval(runs: Runs, approval: string, decision: Decision): Promise<void> {
  const id = approval.slice(0, Math.max(0, approval.lastIndexOf(":")));
  if (decision.decision !== "approve" && decision.decision !== "deny") {
    refuse("decision", String(decision.decision), '"approve" or "deny"');
  }
  const { asked, decided } = foldJournal(id, await runs.read(id, { limit: 1_000_000 }));
  if (!asked.has(approval) || decided.has(approval)) {
    const waiting = [...asked].filter((one) => !decided.has(one));
    refuse("approval", quote(approval), waiting.length === 0 ? "one that waits, and none does" : waiting.join(" or "));
  }
  const run = await runs.open(id);
  try {
    await run.append([{ type: "approval-decided", run: id, approval, ...decision }]);
  } finally {
    await run.pause();
  }
}

function refuse(option: string, found: string, expected: string): never {
  throw new KitbagError("option-invalid", { option, found, expected });
}
