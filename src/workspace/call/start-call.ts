import { type Failure, toFailure } from "../../core/errors.ts";
import { isObject, showValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { Tool, ToolCode } from "../../core/tool.ts";
import { noOptions, type CallRequest, type CallOptions } from "./call-options.ts";
import { Call } from "./call.ts";
import type { Chain } from "./chain.ts";
import type { CallHost } from "./host.ts";
import { cutText } from "../../core/cut-text.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Found, Resolution, Holder } from "../registry/registered-tool.ts";
import { findWrongOption, isAboveZero, isFunction, type Expectations } from "../options/find-wrong-option.ts";
import type { Registry } from "../registry/registry.ts";
import { traceCall } from "../telemetry/trace-call.ts";

/**
 * Makes a call, inside another one if `parent` is given; of `found`, if it is not to be looked for; for `holder`, or the workspace
 * itself. A call inside another one is for the same holder, unless another is given. Never throws and never rejects.
 */
export type StartCall = (request: CallRequest, parent?: Call, found?: Found, holder?: Holder) => Promise<ToolOutcome>;

/** Makes the one way in: every call of a workspace begins here. */
export function createStartCall(host: CallHost, chain: Chain): StartCall {
  const { own } = host.registry;

  async function start(
    given: CallRequest,
    parent?: Call,
    found?: Found,
    holder: Holder = parent?.holder ?? own,
  ): Promise<ToolOutcome> {
    if (parent?.ended === true) return refuseLate(given.tool);
    let call: Call | undefined;
    try {
      const { request, resolution } = prepare(host, given, { parent, found, holder });
      call = new Call(host, resolution, { request, parent, holder, callInside: start });
      host.meter.open += 1;
      const outcome = await (host.telemetry.isOn() ? runTraced(call) : run(call));
      host.meter.count(call, outcome);
      return outcome;
    } catch (cause) {
      return failed(toFailure("call-crashed", { tool: nameOf(given.tool), reason: describeThrown(cause) }));
    } finally {
      if (call !== undefined) end(call, parent);
    }
  }

  function end(call: Call, parent: Call | undefined): void {
    host.meter.open -= 1;
    parent?.release(call);
  }

  async function runTraced(call: Call): Promise<ToolOutcome> {
    return traceCall(call, { tracing: await host.telemetry.open(), run: () => run(call) });
  }

  function run(call: Call): ToolOutcome | Promise<ToolOutcome> {
    const { signal } = call.options;
    return signal === undefined ? chain.run(call) : runUnder(signal, call);
  }

  async function runUnder(signal: AbortSignal, call: Call): Promise<ToolOutcome> {
    const cancel = (): void => call.stop(toFailure("call-cancelled", { tool: call.address, reason: "by the caller" }));
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel);
    try {
      return await chain.run(call);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  return start;
}

/** Where a call is made, and for whom. */
interface CallAim {
  readonly parent: Call | undefined;
  readonly found: Found | undefined;
  readonly holder: Holder;
}

/** Checks the options and finds the tool. What is wrong is a failure that takes the same way as any other. */
function prepare(
  { registry }: CallHost,
  { tool, input, options }: CallRequest,
  { parent, found, holder }: CallAim,
): { readonly request: CallRequest; readonly resolution: Resolution } {
  const caller = parent?.found;
  const wrong = options === noOptions ? undefined : refuseOptions(options);
  // A copy: the caller may change the object while the call runs.
  const request = { tool, input, options: wrong === undefined ? { ...options } : noOptions };
  const resolution = found ?? resolveRequest(registry, request, caller, holder);
  if (wrong === undefined && !holder.isClosed) return { request, resolution };
  const requested = resolution.ok ? resolution.entry.address : resolution.requested;
  const failure = wrong ?? toFailure("session-closed", { action: `call ${requested}` });
  return { request, resolution: { ok: false, requested, failure } };
}

/** A tool whose call is over still asks. It is not even recorded, and everybody else goes first: it may ask forever. */
async function refuseLate(tool: unknown): Promise<FailedOutcome> {
  await new Promise(setImmediate);
  return failed(toFailure("call-cancelled", { tool: nameOf(tool), reason: "the call that made it is over" }));
}

function failed(error: Failure): FailedOutcome {
  return { status: "failed", error };
}

function nameOf(tool: unknown): string {
  return typeof tool === "string" ? cutText(tool, 200) : "unknown";
}

/** Code that is made of other tools. */
interface ComposedCode extends ToolCode {
  readonly parts?: readonly Tool[];
}

/**
 * Finds the tool that is asked for, by address or as the tool itself. A tool that is not in the workspace can be called only by
 * a composed tool that it is a part of. `caller` is the tool that asks, if one does;
 * `holder` is for whom, if it is not the workspace.
 */
function resolveRequest(
  registry: Registry,
  { tool, options }: CallRequest,
  caller: Found | undefined,
  holder: Holder = registry.own,
): Resolution {
  if (typeof tool === "string") return registry.resolveFor(holder, tool, options.from ?? ownerOf(caller));
  if (!isTool(tool)) {
    const address = showValue(tool);
    return refuse(address, toFailure("address-invalid", { address }));
  }
  const registered = registry.find(tool);
  const found = registered.length === 1 ? registered[0] : findPart(tool, caller);
  if (found !== undefined) return found;
  if (registered.length === 0) return refuse(tool.name, toFailure("tool-foreign", { tool: tool.name }));
  const addresses = registered.map(({ entry }) => entry.address);
  return refuse(tool.name, toFailure("tool-ambiguous", { tool: tool.name, addresses }));
}

function refuse(requested: string, failure: Failure): Resolution {
  return { ok: false, requested, failure };
}

function ownerOf(caller: Found | undefined): string | undefined {
  return caller === undefined || caller.entry.source === "global" ? undefined : caller.entry.owner;
}

function isTool(value: unknown): value is Tool {
  return (
    isObject(value) && "inputSchema" in value && "code" in value && "name" in value && typeof value.name === "string"
  );
}

function findPart(tool: Tool, caller: Found | undefined): Found | undefined {
  const code: ComposedCode | undefined = caller?.entry.tool.code;
  if (caller === undefined || code?.parts?.includes(tool) !== true) return undefined;
  const { entry, injected, partOf = entry } = caller;
  const address = `${entry.address}/${tool.name}`;
  const { source, owner } = entry;
  return { ok: true, entry: { tool, address, wireName: address, source, owner }, injected, partOf };
}

const expectations: Expectations<CallOptions> = {
  signal: [(value) => value instanceof AbortSignal, "an AbortSignal"],
  limitMs: [isAboveZero, "a number above 0"],
  maxOutputBytes: [isAboveZero, "a number above 0"],
  maxCalls: [(value) => value === 0 || isAboveZero(value), "a number from 0"],
  injected: [isObject, "an object"],
  approve: [isFunction, "a function"],
  approveIfNobody: [isFunction, "a function"],
  scopes: [(value) => value === "all" || value instanceof Set, 'a Set of scopes, or "all"'],
  refuse: [isFunction, "a function"],
  idempotencyKey: [isKey, "a text of 1 to 256 characters"],
  priority: [isPriority, "a whole number from -100 to 100"],
  onLimit: [(value) => value === "wait" || value === "fail", '"wait" or "fail"'],
  user: [isTextOption, "a text"],
  traceparent: [isTextOption, "a text"],
  tracestate: [isTextOption, "a text"],
  from: [isTextOption, "a text"],
  namedBy: [(value) => ["person", "model", "remote"].includes(value as string), '"person", "model" or "remote"'],
  agents: [isObject, "an object"],
  onSpend: [isFunction, "a function"],
  onEvent: [isFunction, "a function"],
};

/** The failure of a call that was given an unknown or wrong option, if it was. */
function refuseOptions(options: CallOptions): Failure | undefined {
  const wrong = findWrongOption(options, expectations);
  return wrong && toFailure("option-invalid", wrong);
}

function isTextOption(value: unknown): boolean {
  return typeof value === "string";
}

function isKey(value: unknown): boolean {
  return typeof value === "string" && value.length > 0 && value.length <= 256 && value.isWellFormed();
}

function isPriority(value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= 100;
}
