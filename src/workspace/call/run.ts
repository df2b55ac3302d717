import { isKitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { createRedactor } from "../../core/redactor.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import { refuseUnavailable } from "./authorise.ts";
import type { Call } from "./call.ts";
import { createChunks, type Chunks } from "./chunks.ts";
import { collectInjected } from "./inject.ts";
import type { Phase } from "./phase.ts";
import { raceStop, timedOut } from "./race-stop.ts";

/** Runs the tool where it belongs, and ends the call at its deadline, whether the tool stops or not. */
export const run: Phase = async (call) => {
  const { tool, host } = call;
  if (tool === undefined) return call.fail("tool-failed", { tool: call.address, reason: "there is no tool to run" });
  // It may have been closed, cancelled or too late while the call waited for an approval or a place.
  const refused = refuseUnavailable(call) ?? refuseStopped(call);
  if (refused !== undefined) return refused;
  const runtime = host.runtimes.get(tool.code.kind);
  if (runtime === undefined) {
    return call.fail("runtime-missing", { tool: call.address, kind: tool.code.kind, known: [...host.runtimes.keys()] });
  }
  const injected = await collectInjected(call, tool);
  if (!injected.ok) return injected.outcome;
  learnSecrets(call, injected.secrets);
  const chunks = createChunks(call);
  const context = createContext(call, injected.values, chunks);
  try {
    const result = runtime.run(tool, call.refined, context);
    return result instanceof Promise ? await finish(call, result) : toOutcome(call, result);
  } catch (cause) {
    return call.stopped === undefined ? failedBy(call, cause) : { status: "failed", error: call.stopped };
  } finally {
    chunks.flush();
  }
};

function refuseStopped(call: Call): FailedOutcome | undefined {
  return call.stopped === undefined ? undefined : { status: "failed", error: call.stopped };
}

async function finish(call: Call, result: Promise<unknown>): Promise<ToolOutcome> {
  const onLate = (): void => {
    const afterMs = performance.now() - call.startedAt;
    call.emit({ type: "result-dropped", call: call.id, tool: call.address, afterMs });
  };
  const race = await raceStop(call, result, onLate);
  return race.ok ? toOutcome(call, race.value) : { status: "failed", error: race.failure };
}

function toOutcome(call: Call, output: unknown): ToolOutcome {
  // A tool that blocks the process cannot be interrupted; its output is too late all the same.
  if (performance.now() > call.deadlineAt) call.stop(timedOut(call));
  if (call.stopped !== undefined) return { status: "failed", error: call.stopped };
  // Checked and copied by the next phase.
  return { status: "ok", output: output as JsonValue };
}

function failedBy(call: Call, cause: unknown): FailedOutcome {
  if (isKitbagError(cause)) return call.fail(cause.code, cause.details as never);
  return call.fail("tool-failed", { tool: call.address, reason: describeThrown(cause) });
}

/** What was thrown may be anything, also something that throws when it is looked at. */
function describeThrown(cause: unknown): string {
  try {
    const text = cause instanceof Error ? cause.message || cause.name : String(cause);
    return text.length > 4000 ? `${text.slice(0, 4000)}…` : text;
  } catch {
    return "something that cannot be shown";
  }
}

/** Texts that were injected must not be shown either, whatever the tool does with them. */
function learnSecrets(call: Call, secrets: Readonly<Record<string, string>>): void {
  if (Object.keys(secrets).length === 0) return;
  call.redactor = call.redactor === undefined ? createRedactor(secrets) : call.redactor.with(secrets);
}

function createContext(call: Call, injected: Readonly<Record<string, unknown>>, chunks: Chunks): RuntimeContext {
  return {
    id: call.id,
    get signal() {
      return call.signal;
    },
    injected,
    progress(progress) {
      if (call.stopped !== undefined) return;
      const shown = typeof progress === "string" ? { message: progress } : progress;
      call.emit({ type: "call-progress", call: call.id, progress: shown });
    },
    chunk: chunks.push,
    call: (inner: unknown, input?: unknown) => call.callInside({ tool: inner, input, options: {} }) as Promise<never>,
  };
}
