import { isKitbagError, quote, toFailure, type Failure, type ErrorCode, type KitbagError } from "../core/errors.ts";
import type { Answer, ExitCode, Invocation } from "./cli-command.ts";
import { toPrintable } from "./printable.ts";
import { showCommand } from "./options.ts";

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

/** What is known about a failure beside its error. */
interface FailureFacts {
  readonly invocation?: Pick<Invocation, "options">;
  /** The command that shows what a tool takes. @default `kitbag show` */
  readonly help?: string | undefined;
  /** The id under which a failed call is kept, to be made again. */
  readonly kept?: string | undefined;
  /** The store could not be opened for the records of calls. */
  readonly isRecording?: boolean;
}

type Hint<Code extends ErrorCode> = (error: FailureOf<Code>, facts: FailureFacts) => string | undefined;

type FailureOf<Code extends ErrorCode> = Extract<Failure, { readonly code: Code }>;

/** What a person can do next, by the code of the failure. */
const hints: { readonly [Code in ErrorCode]?: Hint<Code> } = {
  "input-invalid": ({ details }, { help = `kitbag show ${details.tool}` }) => `To see what it takes: ${help}`,
  "audit-broken": ({ details }, { invocation, isRecording }) => {
    const words = details.isChainBroken === true ? "store accept --new-audit" : "store accept";
    return isRecording === true && invocation
      ? `If you know why, take it as it is: ${showCommand(words, invocation)}`
      : undefined;
  },
};

/** What a person can do next about a failure, a line each. */
export function findHints(error: Failure, facts: FailureFacts): readonly string[] {
  const hint = hints[error.code] as Hint<ErrorCode> | undefined;
  return [
    hint?.(error, facts),
    // Nothing else says that a call is kept.
    facts.kept === undefined ? undefined : `To make this call again: kitbag dead retry ${facts.kept}`,
    facts.isRecording === true ? "To call without records: --store none" : undefined,
  ].filter((line) => line !== undefined);
}

const added = new WeakMap<KitbagError, readonly string[]>();

/** Adds hints to an error, to be printed below its message. Any other value stays as it is. */
export function withHints<Cause>(cause: Cause, facts: FailureFacts): Cause {
  if (isKitbagError(cause)) added.set(cause, findHints(cause.toJSON(), facts));
  return cause;
}

/** The hints that were added to an error. */
function hintsOf(error: KitbagError): readonly string[] {
  return added.get(error) ?? [];
}
