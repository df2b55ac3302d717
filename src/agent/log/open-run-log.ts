import { isKitbagError, toFailure } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Run } from "../../store/runs/run.ts";
import type { RunOutcome } from "../../store/runs/run-records.ts";
import type { RunResult } from "../run-result.ts";
import type { LoggedCall, LoggedOutcome, RunLog } from "./run-log.ts";
import { toKeptEvent } from "./kept-files.ts";

/** Makes the log of a run whose lease this process has. */
export function createRunLog(run: Run): RunLog {
  return {
    isKept: true,
    signal: run.signal,
    write: (event) => run.append([toKeptEvent(event)]),
    call: (call) => callOnce(run, call),
    end: (result) => run.end(toOutcome(result)),
    pause: () => run.pause(),
    close: () => run.close(),
  };
}

async function callOnce(run: Run, { name, tool, idempotent, work }: LoggedCall): Promise<LoggedOutcome> {
  let recalled = true;
  try {
    const outcome = await run.step(name, { idempotent }, async ({ key }) => {
      recalled = false;
      return (await work(key)) as unknown as JsonValue;
    });
    return { outcome: outcome as unknown as ToolOutcome, recalled };
  } catch (cause) {
    if (!isKitbagError(cause, "step-uncertain")) throw cause;
    // It may have happened, and must not happen twice: that is all anybody can say about it, and now it is written down.
    const outcome = {
      status: "failed",
      error: toFailure("call-uncertain", { tool, key: `${run.id}:${name}` }),
    } as const;
    await run.resolve(name, { output: outcome as unknown as JsonObject });
    return { outcome, recalled: true };
  }
}

/** What a journal says at its end. The conversation is in the lines before. */
function toOutcome({ status, messages: _messages, output, error, ...rest }: RunResult): RunOutcome {
  const facts = JSON.parse(JSON.stringify(rest)) as JsonObject;
  if (status === "ok") return { status, output: { ...facts, output: output ?? null } };
  const { code, message } = error ?? toFailure("run-stopped", { run: rest.run, reason: rest.reason ?? "cancelled" });
  return { status: "failed", error: { code, message, ...facts } };
}
