import { isKitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { checkRunId } from "./check-runs.ts";
import { toStepKey, toStream, type RunEvent, type RunRecord } from "./run-records.ts";

/** Writes the first lines of a journal in one commit, if there is none. Answers whether it did. */
export async function beginJournal(
  { log }: Pick<Store, "log">,
  runId: string,
  lines: readonly RunEvent[],
): Promise<boolean> {
  checkRunId(runId);
  try {
    await log.append(toStream(runId), [{ type: "run-start" }, ...lines], { expectedPosition: 0 });
    return true;
  } catch (cause) {
    if (isKitbagError(cause, "store-conflict")) return false;
    throw cause;
  }
}

/** The lines of a step that was run, as if this run had run it. */
export function toStepLines(runId: string, step: string, output: JsonValue): readonly RunEvent[] {
  const key = toStepKey(runId, step);
  const intent: RunRecord = { type: "step-intent", step, key, attempt: 1, idempotent: true };
  const outcome: RunRecord = { type: "step-outcome", step, output };
  return [intent, outcome];
}
