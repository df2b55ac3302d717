import { isKitbagError, toFailure } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Run } from "../../records/runs/run.ts";
import type { RunOutcome } from "../../records/runs/run-records.ts";
import type { RunResult } from "../run-result.ts";
import type { KeptEvent, LoggedCall, LoggedOutcome, RunLog } from "./run-log.ts";
import { toKeptEvent } from "./kept-files.ts";

/** Makes the log of a run whose lease this process has. */
export function createRunLog(run: Run): RunLog {
  let held: KeptEvent | undefined;
  /** What is on its way, the last of it: nothing that follows from it counts before it is there, and then all before it is there, too. */
  let sent: Promise<unknown> | undefined;

  /** Sends what is held. What is sent in the same turn goes with it, in one commit. */
  function release(): Promise<unknown> | undefined {
    if (held === undefined) return sent;
    note(run.append([toKeptEvent(held)]));
    held = undefined;
    return sent;
  }

  function note(next: Promise<unknown>): void {
    sent = next;
    // Who waits for two may hear of the other first.
    next.catch(ignore);
  }

  async function both<Value>(released: Promise<unknown> | undefined, next: Promise<Value>): Promise<Value> {
    const value = await next;
    await released;
    return value;
  }

  return {
    isKept: true,
    signal: run.signal,
    write: (event) => both(release(), run.append([toKeptEvent(event)])),
    hold(event) {
      void release();
      held = event;
    },
    release,
    call: (call) => callOnce(run, call, release(), note),
    end: (result) => both(release(), run.end(toOutcome(result))),
    pause: () => both(release(), run.pause()),
    close() {
      // Who has lost the run cannot write what is held, and need not.
      void release();
      return run.close();
    },
  };
}

function ignore(): void {}

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
