import { setTimeout as wait } from "node:timers/promises";

import { isKitbagError, quote } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Runs } from "../../store/runs/create-runs.ts";
import type { Run } from "../../store/runs/run.ts";
import type { RunEntry } from "../../store/runs/run-records.ts";
import type { Decision } from "../agent-options.ts";
import { refuse, refuseFound } from "../expectations.ts";
import { foldJournal } from "./fold-journal.ts";

/**
 * Writes down what somebody decided about a call that waits.
 *
 * @throws {KitbagError} `option-invalid` if nothing of this name waits, or it is no decision; `run-leased`, `run-ended`.
 */
export async function decideApproval(runs: Runs, approval: string, decision: Decision): Promise<void> {
  const [, id] = /^(.+):\d+\.\d+$/su.exec(String(approval)) ?? [];
  if (id === undefined) refuse("approval", approval, "the id of an approval, as in run:1.0");
  const { decision: said } = (decision ?? {}) as Partial<Decision>;
  if (said !== "approve" && said !== "deny") refuse("decision", said, '"approve" or "deny"');
  checkWaits(id, approval, await runs.read(id, { limit: 1_000_000 }));
  const run = await openSoon(runs, id);
  try {
    // Somebody else may have decided since.
    checkWaits(id, approval, run.past);
    await run.append([{ type: "approval-decided", run: id, approval, ...toFacts(decision) }]);
  } finally {
    await run.pause();
  }
}

/** How long a run is waited for that somebody else has open: who decides about another of its calls does so in no time. */
const waitsMs = [10, 20, 50, 100, 200, 400];

/** Opens a run, also while others decide about it. @throws {KitbagError} `run-leased` if somebody works on it. */
async function openSoon(runs: Runs, id: string): Promise<Run> {
  for (const waitMs of waitsMs) {
    try {
      return await runs.open(id);
    } catch (cause) {
      if (!isKitbagError(cause, "run-leased")) throw cause;
      await wait(waitMs);
    }
  }
  return runs.open(id);
}

function checkWaits(id: string, approval: string, entries: readonly RunEntry[]): void {
  const { asked, decided } = foldJournal(id, entries);
  if (asked.has(approval) && !decided.has(approval)) return;
  const waiting = [...asked.keys()].filter((one) => !decided.has(one));
  refuseFound(
    "approval",
    quote(approval),
    waiting.length === 0 ? "one that waits, and none does" : waiting.join(" or "),
  );
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
