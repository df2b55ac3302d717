import { longestTimerMs } from "../../core/async.ts";
import type { ToolOutcome, FailedOutcome, OkOutcome } from "../../core/outcome.ts";
import type { Call } from "./call.ts";
import type { Failure } from "../../core/errors.ts";
import type { Redactor } from "../../core/redactor.ts";
import type { Approve } from "./call-options.ts";

/** What is behind a phase. It may answer at once: a call of a plain function need not wait for anything. */
export type Next = () => ToolOutcome | Promise<ToolOutcome>;

/** A phase: a middleware that also sees the inside of a call. */
export type Phase = (call: Call, next: Next) => ToolOutcome | Promise<ToolOutcome>;

/** What {@link raceStop} answers: the value, or why the call had to stop first. */
export type Race<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

/**
 * Waits for `work`, until the call must stop: because it is stopped, or because its deadline comes. Rejects only if `work`
 * does so in time. A value that comes later goes to `onLate`; an error that comes later is how a tool obeys.
 */
export function raceStop<Value>(call: Call, work: PromiseLike<Value>, onLate?: () => void): Promise<Race<Value>> {
  return new Promise((resolve) => {
    let isLate = false;
    const give = (failure: Failure): void => {
      isLate = true;
      resolve({ ok: false, failure });
    };
    work.then(
      (value) => {
        if (isLate) return onLate?.();
        call.onStop(undefined);
        resolve({ ok: true, value });
      },
      () => {
        if (isLate) return;
        call.onStop(undefined);
        // With whatever the tool threw.
        resolve(work as PromiseLike<never>);
      },
    );
    if (call.stopped !== undefined) give(call.stopped);
    else call.onStop(give);
  });
}

/** Waits for some time, but for no longer than a timer can, until the call must stop. */
export async function sleepIn(call: Call, ms: number): Promise<Race<void>> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(ms, longestTimerMs));
  try {
    return await raceStop(call, promise);
  } finally {
    clearTimeout(timer);
  }
}

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
  const { files } = outcome;
  return { status: "failed", error, ...(files !== undefined && { files: redactor.value(files) }) };
}

function redactOutput(call: Call, redactor: Redactor, outcome: OkOutcome): OkOutcome {
  const shown = redactor.value(outcome);
  if (shown === outcome) return outcome;
  // The names that stand in for secrets may be longer than the secrets.
  call.outputBytes = Buffer.byteLength(JSON.stringify(shown.output));
  return { ...shown, status: "ok" };
}

/** A failed outcome if the tool of `call` is gone or broken, or its skill or its session is closed. */
export function refuseUnavailable(call: Call): FailedOutcome | undefined {
  const { found, host, address, holder } = call;
  const { entry, partOf = entry } = found;
  const { registry } = host;
  if (holder.isClosed) return call.fail("session-closed", { action: `call ${address}` });
  if (found.refuse !== undefined) return toFailedOutcome(found.refuse());
  if (!registry.has(partOf)) return call.fail("tool-not-found", registry.notFound(address));
  const brokenUntil = registry.brokenUntil(entry);
  if (brokenUntil !== undefined) {
    return call.fail("tool-broken", { tool: address, retryAfterMs: Math.max(0, brokenUntil - performance.now()) });
  }
  if (registry.isAvailableTo(holder, entry)) return undefined;
  return call.fail("tool-unavailable", { tool: address, owner: entry.owner });
}

function toFailedOutcome(error: Failure | undefined): FailedOutcome | undefined {
  return error === undefined ? undefined : { status: "failed", error };
}

/** Who decides on a call, if the caller or the workspace says so. */
export function approverOf(call: Call): Approve | undefined {
  return call.options.approve ?? call.root.options.approve ?? call.host.approve;
}
