import { isKitbagError, quote, toFailure, type Failure } from "../core/errors.ts";
import type { Answer, ExitCode } from "./cli-command.ts";
import { hintsOf } from "./hints.ts";
import { toPrintable } from "./printable.ts";

/**
 * Turns what a command threw into an answer: a `KitbagError`, and a file that the machine does not let us use, become one line; anything
 * else is a bug and keeps its stack.
 */
export function toFailedAnswer(cause: unknown): Answer {
  if (isKitbagError(cause)) {
    const answer = failedAnswer(cause.toJSON(), exitCodeOf(cause.code));
    return { ...answer, failure: [answer.failure ?? "", ...hintsOf(cause)].join("\n") };
  }
  const refused = describeRefusal(cause);
  if (refused !== undefined)
    return failedAnswer({ ...toFailure("program-failed", { reason: refused }), message: refused });
  const reason = cause instanceof Error ? cause.message : String(cause);
  const stack = cause instanceof Error ? (cause.stack ?? reason) : reason;
  const error = toFailure("program-failed", { reason });
  return { document: { status: "failed", error }, failure: toPrintable(stack), exitCode: 1 };
}

const another = "change who may use it, or name another place with KITBAG_HOME or --store";
const room = "make room, or name another place with KITBAG_HOME or --store";

/** What a machine says about a file where nothing is wrong but the machine, and what to do about it. */
const refusals: Readonly<Record<string, string>> = {
  EACCES: `there is no permission for it; ${another}`,
  EPERM: `there is no permission for it; ${another}`,
  EROFS: `it cannot be written there; ${another}`,
  ENOSPC: `the disk is full; ${room}`,
  EDQUOT: `the disk is full; ${room}`,
};

function describeRefusal(cause: unknown): string | undefined {
  const { code, path } = (cause ?? {}) as { readonly code?: unknown; readonly path?: unknown };
  if (typeof code !== "string" || typeof path !== "string" || !Object.hasOwn(refusals, code)) return undefined;
  return `Cannot use ${quote(path)}: ${refusals[code]}`;
}

/** The answer for a failure that is data. */
export function failedAnswer(error: Failure, exitCode: ExitCode = 1): Answer {
  return { document: { status: "failed", error }, failure: toPrintable(error.message), exitCode };
}

function exitCodeOf(code: string): ExitCode {
  return code === "usage-invalid" || code === "option-invalid" ? 2 : 1;
}
