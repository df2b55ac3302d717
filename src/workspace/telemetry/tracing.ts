import type * as Api from "@opentelemetry/api";
import type { Context, Span, Tracer, TracerProvider, SpanContext, TraceState } from "@opentelemetry/api";

import { isObject } from "../../core/json.ts";
import { isFunction, type Expectations } from "../options/find-wrong-option.ts";
import type { TraceContext } from "../../core/runtime.ts";

/** What makes the spans of a workspace. */
export interface Tracing {
  readonly api: OpenTelemetry;
  readonly tracer: Tracer;
  readonly options: TelemetryOptions;
}

/** Finds out, for each call, whether spans are wanted; mostly they are not, and then it costs next to nothing. */
export interface Telemetry {
  isOn(): boolean;
  /** Only if it is on. */
  open(): Promise<Tracing>;
}

/** Where in a trace a call is. */
export interface CallTrace {
  readonly tracing: Tracing;
  /** Of the trace. */
  readonly id: string;
  /** The span of the call is the active one in it. */
  context: Context;
  /** The calls that the tool makes are in this: in the span of the tool, once it runs. */
  inside: Context;
  /** The span of the tool, once it runs. */
  run: Span | undefined;
}

/** Makes the telemetry of a workspace. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { tracerProvider } = options;
  return {
    isOn: () => tracerProvider !== undefined || hasTracerProvider(),
    async open() {
      const api = getOpenTelemetry() ?? (await loadOpenTelemetry());
      return { api, tracer: (tracerProvider ?? api.trace).getTracer("kitbag"), options };
    },
  };
}

/** Tells whether what is inside a context is recorded: most traces of a busy service are not recorded. */
export function isRecording({ tracing }: CallTrace, context: Context): boolean {
  return tracing.api.trace.getSpan(context)?.isRecording() === true;
}

/** Under this key a context knows the call that it belongs to. */
const traceKey = Symbol.for("kitbag.call");

/** A context that belongs to a call. */
export function withTrace(context: Context, trace: CallTrace): Context {
  return context.setValue(traceKey, trace);
}

/** Where the call is that a context belongs to, if it belongs to one. */
export function traceOf(context: Context): CallTrace | undefined {
  return context.getValue(traceKey) as CallTrace | undefined;
}

/** The package `@opentelemetry/api`. */
export type OpenTelemetry = typeof Api;

/** Where version 1 of the package keeps what was registered, the same place for all copies of it in a process. */
const registered = Symbol.for("opentelemetry.js.api.1");

/**
 * Tells whether a tracer provider is registered. The package itself need not be there for that: it consists of 50 files,
 * and most processes have no use for them.
 */
export function hasTracerProvider(): boolean {
  return (globalThis as Registered)[registered]?.trace !== undefined;
}

/** Tells whether a meter provider is registered. */
export function hasMeterProvider(): boolean {
  return (globalThis as Registered)[registered]?.metrics !== undefined;
}

interface Registered {
  readonly [registered]?: { readonly trace?: unknown; readonly metrics?: unknown };
}

let loaded: OpenTelemetry | undefined;

/** The package, once it was loaded. */
export function getOpenTelemetry(): OpenTelemetry | undefined {
  return loaded;
}

/** Loads the package. */
export async function loadOpenTelemetry(): Promise<OpenTelemetry> {
  loaded ??= await import("@opentelemetry/api");
  return loaded;
}

/** What the spans of a workspace say, and to whom. */
export interface TelemetryOptions {
  /** Makes the spans. @default the one that is registered with `@opentelemetry/api`; without one there are no spans */
  readonly tracerProvider?: TracerProvider;
  /**
   * Whether spans show inputs, outputs and messages of errors. Secrets, and what looks like one or like personal data, are taken
   * out, and long texts are cut. @default false
   */
  readonly content?: boolean;
  /** Whether spans say who asks, as `user.id`. @default false */
  readonly user?: boolean;
}

/** How to tell what is right in {@link TelemetryOptions}. */
export const telemetryExpectations: Expectations<TelemetryOptions> = {
  tracerProvider: [isProvider, "a tracer provider, with getTracer"],
  content: [isChoice, "true or false"],
  user: [isChoice, "true or false"],
};

function isProvider(value: unknown): boolean {
  return isObject(value) && "getTracer" in value && isFunction(value.getTracer);
}

function isChoice(value: unknown): boolean {
  return typeof value === "boolean";
}

const grammar = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/u;

/** Reads where in a trace something happens; `undefined` for any other text: then a new trace begins, as the W3C wants it. */
export function parseTraceContext(
  api: OpenTelemetry,
  { traceparent, tracestate }: TraceContext,
): SpanContext | undefined {
  const [, version, traceId = "", spanId = "", flags = "", rest] = grammar.exec(traceparent ?? "") ?? [];
  // Later versions may say more behind the flags; this one may not.
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  const span: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & api.TraceFlags.SAMPLED,
    isRemote: true,
    ...(tracestate !== undefined && { traceState: parseTraceState(tracestate) }),
  };
  return api.isSpanContextValid(span) ? span : undefined;
}

/** Writes down where in a trace `context` is, as headers; empty outside a trace. */
export function toTraceContext(api: OpenTelemetry, context: Context): TraceContext {
  const span = api.trace.getSpanContext(context);
  if (span === undefined || !api.isSpanContextValid(span)) return {};
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, "0");
  const tracestate = span.traceState?.serialize() ?? "";
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(tracestate !== "" && { tracestate }),
  };
}

/** As the W3C says it. */
const mostMembers = 32;
const longestText = 8192;
const keyGrammar = /^[a-z0-9][a-z0-9_*/@-]{0,255}$/u;
const valueGrammar = /^[ -~]{1,256}$/u;

/**
 * Reads what vendors have added to a trace, as `tracestate` says it: `vendor=value,other=value`. Members that are wrong, a text
 * that is too long, and what is behind 32 members are left out.
 */
export function parseTraceState(text: string): TraceState {
  const members = (text.length > longestText ? "" : text).split(",").slice(0, mostMembers);
  return toTraceState(new Map(members.map(toMember).filter(([key, value]) => isMember(key, value))));
}

function toMember(text: string): readonly [key: string, value: string] {
  const member = text.trim();
  const equals = member.indexOf("=");
  return [member.slice(0, Math.max(0, equals)), member.slice(equals + 1)];
}

function isMember(key: string, value: string): boolean {
  return keyGrammar.test(key) && valueGrammar.test(value) && !value.includes("=");
}

function toTraceState(members: ReadonlyMap<string, string>): TraceState {
  const without = (key: string): (readonly [string, string])[] => [...members].filter(([other]) => other !== key);
  return {
    get: (key) => members.get(key),
    // What was changed last goes first.
    set: (key, value) => toTraceState(new Map([[key, value], ...without(key)])),
    unset: (key) => toTraceState(new Map(without(key))),
    serialize: () => Array.from(members, ([key, value]) => `${key}=${value}`).join(","),
  };
}
