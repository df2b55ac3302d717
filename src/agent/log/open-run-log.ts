import { isKitbagError, toFailure } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Run } from "../../records/runs/run.ts";
import type { RunOutcome } from "../../records/runs/run-records.ts";
import type { RunResult } from "../run-result.ts";
import type { LoggedCall, LoggedOutcome, RunLog } from "./run-log.ts";
import { toKeptEvent } from "./kept-files.ts";

/** Makes the log of a run whose lease this process has. */
export function createRunLog(run: Run): RunLog {
  /** The last write that was not waited for: nothing that follows from it counts before it is on disk, with all before it. */
  let sent: Promise<unknown> | undefined;

  function note(next: Promise<unknown>): void {
    sent = next;
    // The run hears of the failure where it waits for `sent`.
    next.catch(() => undefined);
  }

  async function withSent<Value>(next: Promise<Value>): Promise<Value> {
    const value = await next;
    await sent;
    return value;
  }

  return {
    isKept: true,
    signal: run.signal,
    write: (event) => withSent(run.append([toKeptEvent(event)])),
    send: (event) => note(run.append([toKeptEvent(event)])),
    whenSent: () => sent,
    call: (call) => callOnce(run, call, sent, note),
    end: (result) => withSent(run.end(toOutcome(result))),
    pause: () => withSent(run.pause()),
    close: () => run.close(),
  };
}

async function callOnce(
  run: Run,
  { name, tool, idempotent, isAwaited, work }: LoggedCall,
  answer: Promise<unknown> | undefined,
  note: (kept: Promise<unknown>) => void,
): Promise<LoggedOutcome> {
  let recalled = true;
  let hasBegun = false;
  try {
    const begin = (): void => void (hasBegun = true);
    const options = isAwaited ? { idempotent } : { idempotent, onSent: note };
    const outcome = await run.step(name, options, () => {
      recalled = false;
      // A call without the answer that asks for it would be that of another answer after a crash.
      return answer === undefined ? work(begin) : answer.then(() => work(begin));
    });
    return { outcome, recalled };
  } catch (cause) {
    if (!recalled && !hasBegun) await run.resolve(name, "again").catch(() => undefined);
    if (!isKitbagError(cause, "step-uncertain")) throw cause;
    // It may have happened, and must not happen twice: that is all anybody can say about it, and now it is written down.
    const outcome = {
      status: "failed",
      error: toFailure("call-uncertain", { tool }),
    } as const;
    await run.resolve(name, { output: outcome as unknown as JsonObject });
    return { outcome, recalled: true };
  }
}

/** What a journal says at its end. The conversation is in the lines before. */
function toOutcome({ status, messages: _messages, output, error, ...rest }: RunResult): RunOutcome {
  const facts = rest as unknown as JsonObject;
  if (status === "ok") return { status, output: { ...facts, output: output ?? null } };
  const { code, message } = error ?? toFailure("run-stopped", { run: rest.run, reason: rest.reason ?? "cancelled" });
  return { status: "failed", error: { code, message, ...facts } };
}
