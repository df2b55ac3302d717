import type { Failure } from "../../core/errors.ts";
import type { FailedOutcome, OkOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { Call } from "./call.ts";
import type { Next, Phase } from "./phase.ts";

/** Takes declared secrets and injected texts out of the outcome, whatever phase made it. */
export const redact: Phase = (call, next) => {
  const { redactor, tool } = call;
  const hasNothingToHide = redactor === undefined && (tool === undefined || tool.inject.length === 0);
  return hasNothingToHide ? next() : redactAfter(call, next);
};

async function redactAfter(call: Call, next: Next): Promise<ToolOutcome> {
  const outcome = await next();
  return outcome.status === "ok" ? redactOutput(call, outcome) : redactFailure(call, outcome);
}

/** A failed outcome without the secrets. */
export function redactFailure({ redactor }: Call, outcome: FailedOutcome): FailedOutcome {
  if (redactor === undefined) return outcome;
  const error = { ...redactor.value(outcome.error), code: outcome.error.code } as Failure;
  return { status: "failed", error };
}

function redactOutput(call: Call, outcome: OkOutcome): OkOutcome {
  // Values that are injected add to the secrets while the call runs, so the redactor is looked up afterwards.
  const { redactor } = call;
  const shown = redactor === undefined ? outcome : redactor.value(outcome);
  if (shown === outcome) return outcome;
  // The names that stand in for secrets may be longer than the secrets.
  call.outputBytes = Buffer.byteLength(JSON.stringify(shown.output));
  return { ...shown, status: "ok" };
}
