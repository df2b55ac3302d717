import { type ErrorCode, type Failure, isKitbagError, type KitbagError } from "../core/errors.ts";
import type { Invocation } from "./cli-command.ts";
import { showCommand } from "./options.ts";

/** What is known about a failure beside its error. */
export interface FailureFacts {
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
export function hintsOf(error: KitbagError): readonly string[] {
  return added.get(error) ?? [];
}
