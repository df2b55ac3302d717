import type { JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { createRedactor } from "../../core/redactor.ts";
import type { Runtime } from "../../core/runtime.ts";
import { isThenable } from "../is-thenable.ts";
import { traceRun } from "../telemetry/trace-run.ts";
import type { Call } from "./call.ts";
import { refuseNested } from "./authority.ts";
import { CallContext } from "./call-context.ts";
import { Chunks } from "./chunks.ts";
import { collectInjected } from "./inject.ts";
import type { InjectedRecord } from "./injection.ts";
import type { Phase } from "./phase.ts";
import { raceStop } from "./race-stop.ts";
import { refuseUnavailable } from "./refuse-unavailable.ts";
import { toToolFailure } from "./to-tool-failure.ts";

const nothing: InjectedRecord = Object.freeze({});

/** Runs the tool where it belongs, and ends the call at its deadline, whether the tool stops or not. */
export const run: Phase = (call) => {
  const { code, inject } = call.entry.tool;
  const { runtimes } = call.host;
  const runtime = runtimes.get(code.kind);
  if (runtime === undefined) {
    return call.fail("runtime-missing", { tool: call.address, kind: code.kind, known: [...runtimes.keys()] });
  }
  return inject.length === 0 ? runIn(runtime, call, nothing) : injectFirst(runtime, call);
};

async function injectFirst(runtime: Runtime, call: Call): Promise<ToolOutcome> {
  const injected = await collectInjected(call);
  if (!injected.ok) return { status: "failed", error: injected.failure };
  const { values, secrets } = injected.value;
  // Texts that were injected must not be shown either, whatever the tool does with them.
  call.ownRedactor = call.ownRedactor === undefined ? createRedactor(secrets) : call.ownRedactor.with(secrets);
  return runIn(runtime, call, values);
}

function runIn(runtime: Runtime, call: Call, injected: InjectedRecord): ToolOutcome | Promise<ToolOutcome> {
  // The tool may be gone, or its callers may have lost a scope, since the call began to wait for an approval, a place or a value.
  const refused = refuseUnavailable(call) ?? refuseUnauthorised(call) ?? refuseStopped(call);
  if (refused !== undefined) return refused;
  call.ran = true;
  call.describeUntilThen = undefined;
  const chunks = new Chunks(call);
  try {
    const start = (): unknown => runtime.run(call.entry.tool, call.refined, new CallContext(call, injected, chunks));
    const result = call.trace === undefined ? start() : traceRun(call, runtime, start);
    if (isThenable(result)) return finish(call, result, chunks);
    chunks.flush();
    return toOutcome(call, result);
  } catch (cause) {
    chunks.flush();
    return failedBy(call, cause);
  }
}

async function finish(call: Call, result: PromiseLike<unknown>, chunks: Chunks): Promise<ToolOutcome> {
  const onLate = (): void => {
    const afterMs = performance.now() - call.startedAt;
    call.emit({ type: "result-dropped", call: call.id, tool: call.address, afterMs });
  };
  try {
    const race = await raceStop(call, result, onLate);
    return race.ok ? toOutcome(call, race.value) : { status: "failed", error: race.failure };
  } catch (cause) {
    return failedBy(call, cause);
  } finally {
    chunks.flush();
  }
}

function toOutcome(call: Call, output: unknown): ToolOutcome {
  // A tool that blocks the process cannot be interrupted; its output is too late all the same.
  call.checkClock();
  // Checked and copied by the next phase.
  return refuseStopped(call) ?? { status: "ok", output: output as JsonValue };
}

/** A tool that must stop and throws has obeyed. */
function failedBy(call: Call, cause: unknown): FailedOutcome {
  return refuseStopped(call) ?? { status: "failed", error: toToolFailure(call, cause) };
}

function refuseUnauthorised(call: Call): FailedOutcome | undefined {
  const error = refuseNested(call);
  return error && { status: "failed", error };
}

function refuseStopped(call: Call): FailedOutcome | undefined {
  return call.stopped === undefined ? undefined : { status: "failed", error: call.stopped };
}
