import type { ToolOutcome } from "../../core/outcome.ts";
import { isIdempotent, type PlannedCall } from "./plan-calls.ts";
import type { RunState } from "./run-state.ts";

/** Thrown to keep an outcome out of the journal: whoever resumes the run makes the call. */
export class CutOff extends Error {
  readonly outcome: ToolOutcome;

  constructor(outcome: ToolOutcome) {
    super("The call was cut off");
    this.outcome = outcome;
  }
}

/** @throws {CutOff} if the run was stopped while the call was made, and it may be made again. */
export function throwIfCutOff({ parts }: RunState, planned: PlannedCall, outcome: ToolOutcome): ToolOutcome {
  if (!parts.signal.aborted || !parts.log.isKept || outcome.status === "ok") return outcome;
  if (outcome.error.code !== "call-cancelled" || !isIdempotent(planned)) return outcome;
  throw new CutOff(outcome);
}
