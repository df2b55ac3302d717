import type { Failure } from "../../core/errors.ts";
import type { FailedOutcome, OkOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { Redactor } from "../../core/redactor.ts";
import type { Call } from "./call.ts";

/**
 * Takes secrets out of the outcome, whatever phase made it: those of the workspace, those that were injected, and those that were
 * loaded for any tool. It looks afterwards which there are, since secrets are loaded while the call runs.
 */
export function redactOutcome(call: Call, outcome: ToolOutcome): ToolOutcome {
  const { redactor } = call;
  if (redactor === undefined) return outcome;
  return outcome.status === "ok" ? redactOutput(call, redactor, outcome) : redactFailure(call, outcome);
}

/** A failed outcome without the secrets. */
export function redactFailure({ redactor }: Call, outcome: FailedOutcome): FailedOutcome {
  if (redactor === undefined) return outcome;
  const error = { ...redactor.value(outcome.error), code: outcome.error.code } as Failure;
  return { status: "failed", error };
}

function redactOutput(call: Call, redactor: Redactor, outcome: OkOutcome): OkOutcome {
  const shown = redactor.value(outcome);
  if (shown === outcome) return outcome;
  // The names that stand in for secrets may be longer than the secrets.
  call.outputBytes = Buffer.byteLength(JSON.stringify(shown.output));
  return { ...shown, status: "ok" };
}
