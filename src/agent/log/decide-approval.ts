import { setTimeout as wait } from "node:timers/promises";

import { isKitbagError, quote } from "../../core/errors.ts";
import type { Sealer } from "../../records/audit/audit-keys.ts";
import type { Runs } from "../../records/runs/create-runs.ts";
import type { Run } from "../../records/runs/run.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import type { Decision } from "../agent-options.ts";
import type { ApprovalDecided } from "../events.ts";
import { refuse, refuseFound } from "../expectations.ts";
import { findStoppedAbove, taskOf } from "../sub-agents/run-tree.ts";
import { sealDecision, type AskedApproval } from "./approval-seal.ts";
import { foldJournal } from "./fold-journal.ts";

/** The store of runs, and the key that seals a decision. */
export interface DecisionPlace {
  readonly runs: Runs;
  readonly sealer: Sealer | undefined;
}

/**
 * Writes down the decision about a call that waits for approval.
 *
 * @throws {KitbagError} `option-invalid` if no call of this name waits, or the decision is malformed; `run-leased`, `run-ended`.
 */
export async function decideApproval(place: DecisionPlace, approval: string, decision: Decision): Promise<void> {
  const { runs, sealer } = place;
  const [, id] = /^(.+):\d+\.\d+$/su.exec(String(approval)) ?? [];
  if (id === undefined) refuse("approval", approval, "the id of an approval, as in run:1.0");
  const { decision: said } = (decision ?? {}) as Partial<Decision>;
  if (said !== "approve" && said !== "deny") refuse("decision", said, '"approve" or "deny"');
  const entries = await runs.read(id, { limit: 1_000_000 });
  findWaiting(place, { id, approval }, entries);
  await checkAbove(runs, approval, entries);
  const run = await openSoon(runs, id);
  try {
    // Another process may have decided in the meantime.
    const asked = findWaiting(place, { id, approval }, run.past);
    const decided: ApprovalDecided = { type: "approval-decided", run: id, approval, ...toFacts(decision) };
    const seal = sealer && sealDecision(sealer, decided, asked);
    await run.append([{ ...decided, ...(seal !== undefined && { seal }) }]);
  } finally {
    await run.pause();
  }
}

/** A run of a sub-agent goes on only with the run above it. @throws {KitbagError} `option-invalid` if that was cancelled, or has ended. */
async function checkAbove(runs: Runs, approval: string, entries: readonly RunEntry[]): Promise<void> {
  const stopped = await findStoppedAbove(runs, taskOf(entries) ?? {});
  if (stopped === undefined) return;
  refuseFound(
    "approval",
    quote(approval),
    `an approval that is waiting; the run ${quote(stopped)} was stopped: resume it first`,
  );
}

/** How long to wait for a run that another process has open: a decision about another of its calls takes only a moment. */
const waitsMs = [10, 20, 50, 100, 200, 400];

/** Opens a run, also while other processes decide about it. @throws {KitbagError} `run-leased` if another process works on it. */
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

function findWaiting(
  { sealer }: DecisionPlace,
  { id, approval }: { readonly id: string; readonly approval: string },
  entries: readonly RunEntry[],
): AskedApproval {
  const { asked, decided } = foldJournal(id, entries, sealer);
  const found = asked.get(approval);
  if (found !== undefined && !decided.has(approval)) return found;
  const waiting = [...asked.keys()].filter((one) => !decided.has(one));
  return refuseFound(
    "approval",
    quote(approval),
    waiting.length === 0 ? "an approval that is waiting; no call of this run is waiting" : waiting.join(" or "),
  );
}

/** The known fields of a decision, without anything else that the caller sent with it. */
function toFacts({ decision, reason, input, user }: Decision): Decision {
  return {
    decision,
    ...(reason !== undefined && { reason: String(reason) }),
    ...(input !== undefined && { input }),
    ...(user !== undefined && { user: String(user) }),
  };
}
