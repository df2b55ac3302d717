import type { Failure } from "../../core/errors.ts";
import type { Phase } from "./phase.ts";

/** Takes declared secrets and injected texts out of the outcome, whatever phase made it. */
export const redact: Phase = async (call, next) => {
  const outcome = await next();
  // Values that are injected add to the secrets while the call runs, so the redactor is looked up afterwards.
  const { redactor } = call;
  if (redactor === undefined) return outcome;
  if (outcome.status === "ok") return { ...outcome, output: redactor.value(outcome.output) };
  return { status: "failed", error: { ...redactor.value(outcome.error), code: outcome.error.code } as Failure };
};
