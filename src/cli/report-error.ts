import { isKitbagError, toFailure, type Failure } from "../core/errors.ts";
import type { Answer, ExitCode } from "./cli-command.ts";
import { toPrintable } from "./printable.ts";

/** Turns what a command threw into an answer: a `KitbagError` becomes one line, anything else is a bug and keeps its stack. */
export function toFailedAnswer(cause: unknown): Answer {
  if (isKitbagError(cause)) return failedAnswer(cause.toJSON(), exitCodeOf(cause.code));
  const reason = cause instanceof Error ? cause.message : String(cause);
  const stack = cause instanceof Error ? (cause.stack ?? reason) : reason;
  const error = toFailure("program-failed", { reason });
  return { document: { status: "failed", error }, failure: toPrintable(stack), exitCode: 1 };
}

/** The answer for a failure that is data. */
export function failedAnswer(error: Failure, exitCode: ExitCode = 1): Answer {
  return { document: { status: "failed", error }, failure: toPrintable(error.message), exitCode };
}

function exitCodeOf(code: string): ExitCode {
  return code === "usage-invalid" || code === "option-invalid" ? 2 : 1;
}
