import type { Span } from "@opentelemetry/api";

import { isObject, type JsonValue, copyJson, maxJsonDepth, isRecord } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { createRedactor } from "../../core/redactor.ts";
import type { Runtime } from "../../core/runtime.ts";
import { conventions, own } from "../telemetry/semantic-names.ts";
import { type CallTrace, isRecording } from "../telemetry/tracing.ts";
import { refuseNested } from "./authority.ts";
import { CallContext, Chunks } from "./call-context.ts";
import type { Call } from "./call.ts";
import type { InjectedRecord } from "../registry/registered-tool.ts";
import { type Phase, raceStop, refuseUnavailable, type Race } from "./phase.ts";
import { errorCodes, isKitbagError, toFailure, type ErrorDetails, type Failure } from "../../core/errors.ts";
import { describeThrown } from "../describe-thrown.ts";
import { isExhausted } from "../../core/error-texts.ts";

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
  call.running = result;
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

/** Runs a tool in a span of its own, so that one sees what of a call was the tool, and what it does itself is inside. */
function traceRun(call: Call, runtime: Runtime, run: () => unknown): unknown {
  const trace = call.trace as CallTrace;
  const { api, tracer } = trace.tracing;
  if (!isRecording(trace, trace.context)) return run();
  const attributes = { [own.runtimeKind]: runtime.kind };
  const span = tracer.startSpan(`run ${runtime.kind}`, { attributes }, trace.context);
  const context = api.trace.setSpan(trace.context, span);
  trace.inside = context;
  trace.run = span;
  void describe(call, runtime, span);

  const end = (isFailed: boolean): void => {
    // The call is over and has ended it.
    if (!span.isRecording()) return;
    if (isFailed) span.setAttribute(conventions.errorType, call.stopped?.code ?? "tool-failed");
    if (isFailed) span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end();
  };

  async function finish(result: PromiseLike<unknown>): Promise<unknown> {
    let isFailed = true;
    try {
      const output = await result;
      isFailed = false;
      return output;
    } finally {
      end(isFailed);
    }
  }

  try {
    const result = api.context.with(context, run);
    if (isThenable(result)) return finish(result);
    end(false);
    return result;
  } catch (cause) {
    end(true);
    throw cause;
  }
}

/** Says what holds the tool to its permissions; the call does not wait for it. */
async function describe({ entry }: Call, runtime: Runtime, span: Span): Promise<void> {
  try {
    const description = await runtime.describe?.(entry.tool);
    if (description !== undefined && span.isRecording()) span.setAttribute(own.sandbox, description.sandbox);
  } catch {
    // A runtime that cannot say it cannot run the tool either, and that outcome says why.
  }
}

/** Tells whether `value` is a promise of any make: query builders have `then` as well. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && "then" in value && typeof value.then === "function";
}

/** The largest details that an error of a tool may bring. */
const maxBytes = 64 * 1024;

/** The failure of a tool that threw `cause`. A {@link KitbagError} stays what it is, if it is one of ours and can be shown. */
function toToolFailure(call: Call, cause: unknown): Failure {
  const { address: tool } = call;
  if (isExhausted(cause)) return toFailure("descriptors-exhausted", { tool, reason: describeThrown(cause) });
  return fromKitbagError(cause) ?? toFailure("tool-failed", { tool, reason: describeThrown(cause) });
}

function fromKitbagError(cause: unknown): Failure | undefined {
  if (!isKitbagError(cause) || !errorCodes.includes(cause.code)) return undefined;
  try {
    const details = copyJson(cause.details, { maxBytes, maxDepth: maxJsonDepth });
    return details.ok ? toFailure(cause.code, details.value as unknown as ErrorDetails[typeof cause.code]) : undefined;
  } catch {
    // Details that are not what the code demands have no message.
    return undefined;
  }
}

/** The values for one call, and the texts in them that must not be shown. */
interface CollectedValues {
  readonly values: InjectedRecord;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Collects what the tool declared, and nothing else: from the call, then the tool, then the workspace. */
async function collectInjected(call: Call): Promise<Race<CollectedValues>> {
  try {
    const ofWorkspace = await collectOfWorkspace(call);
    if (!ofWorkspace.ok) return ofWorkspace;
    return pick(call, [call.root.options.injected, call.found.injected, ofWorkspace.value]);
  } catch (cause) {
    const reason = `the injected values could not be made: ${describeThrown(cause)}`;
    return refuseInjection(call.fail("tool-failed", { tool: call.address, reason }).error);
  }
}

async function collectOfWorkspace(call: Call): Promise<Race<InjectedRecord | undefined>> {
  const { injected } = call.host;
  if (typeof injected !== "function") return { ok: true, value: injected };
  const request = { id: call.id, tool: call.address, ...(call.user !== undefined && { user: call.user }) };
  const race = await raceStop(call, Promise.resolve(injected(request)));
  if (race.ok && !isObject(race.value)) throw new TypeError("the function gave no object");
  return race;
}

function pick(call: Call, sources: readonly (InjectedRecord | undefined)[]): Race<CollectedValues> {
  // Without a prototype, so that "__proto__" is just a name.
  const values = Object.create(null) as Record<string, unknown>;
  const secrets = Object.create(null) as Record<string, string>;
  const missing: string[] = [];
  for (const name of call.entry.tool.inject) {
    const given = sources.find(
      (source) => source !== undefined && Object.hasOwn(source, name) && source[name] !== undefined,
    );
    if (given === undefined) missing.push(name);
    else {
      values[name] = given[name];
      collectTexts(name, given[name], secrets, 0);
    }
  }
  if (missing.length === 0) return { ok: true, value: { values, secrets } };
  return refuseInjection(call.fail("injection-missing", { tool: call.address, names: missing }).error);
}

function refuseInjection(failure: Failure): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure };
}

/** How deep texts are looked for. */
const deepest = 3;

/** A text, or the texts in a list or a plain object: keys and passwords come in all of them. */
function collectTexts(name: string, value: unknown, texts: Record<string, string>, depth: number): void {
  if (typeof value === "string") texts[name] = value;
  else if (depth < deepest && (Array.isArray(value) || isRecord(value))) {
    for (const [key, inner] of Object.entries(value)) collectTexts(`${name}.${key}`, inner, texts, depth + 1);
  }
}
