import type { JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { createRedactor } from "../../core/redactor.ts";
import type { Runtime } from "../../core/runtime.ts";
import { isObject } from "../find-wrong-option.ts";
import type { Call } from "./call.ts";
import { createChunks } from "./chunks.ts";
import { createContext } from "./create-context.ts";
import { collectInjected } from "./inject.ts";
import type { InjectedRecord } from "./injection.ts";
import type { Phase } from "./phase.ts";
import { raceStop } from "./race-stop.ts";
import { refuseUnavailable } from "./refuse-unavailable.ts";
import { toToolFailure } from "./to-tool-failure.ts";

const nothing: InjectedRecord = Object.freeze({});

/** Runs the tool where it belongs, and ends the call at its deadline, whether the tool stops or not. */
export const run: Phase = async (call) => {
  const { code, inject } = call.entry.tool;
  const { runtimes } = call.host;
  const runtime = runtimes.get(code.kind);
  if (runtime === undefined) {
    return call.fail("runtime-missing", { tool: call.address, kind: code.kind, known: [...runtimes.keys()] });
  }
  if (inject.length === 0) return runIn(call, runtime, nothing);
  const injected = await collectInjected(call);
  if (!injected.ok) return { status: "failed", error: injected.failure };
  learnSecrets(call, injected.value.secrets);
  return runIn(call, runtime, injected.value.values);
};

/** Texts that were injected must not be shown either, whatever the tool does with them. */
function learnSecrets(call: Call, secrets: Readonly<Record<string, string>>): void {
  call.redactor = call.redactor === undefined ? createRedactor(secrets) : call.redactor.with(secrets);
}

async function runIn(call: Call, runtime: Runtime, injected: InjectedRecord): Promise<ToolOutcome> {
  // It may have been removed, closed or cancelled while the call waited for an approval, a place or a value.
  const refused = refuseUnavailable(call) ?? refuseStopped(call);
  if (refused !== undefined) return refused;
  const chunks = createChunks(call);
  call.ran = true;
  try {
    const result = runtime.run(call.entry.tool, call.refined, createContext(call, injected, chunks));
    return isThenable(result) ? await finish(call, result) : toOutcome(call, result);
  } catch (cause) {
    return refuseStopped(call) ?? { status: "failed", error: toToolFailure(call, cause) };
  } finally {
    chunks.flush();
  }
}

function refuseStopped(call: Call): FailedOutcome | undefined {
  return call.stopped === undefined ? undefined : { status: "failed", error: call.stopped };
}

/** A promise of any make: query builders have `then` as well. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && "then" in value && typeof value.then === "function";
}

async function finish(call: Call, result: PromiseLike<unknown>): Promise<ToolOutcome> {
  const onLate = (): void => {
    const afterMs = performance.now() - call.startedAt;
    call.emit({ type: "result-dropped", call: call.id, tool: call.address, afterMs });
  };
  const race = await raceStop(call, result, onLate);
  return race.ok ? toOutcome(call, race.value) : { status: "failed", error: race.failure };
}

function toOutcome(call: Call, output: unknown): ToolOutcome {
  // A tool that blocks the process cannot be interrupted; its output is too late all the same.
  call.checkClock();
  // Checked and copied by the next phase.
  return refuseStopped(call) ?? { status: "ok", output: output as JsonValue };
}
