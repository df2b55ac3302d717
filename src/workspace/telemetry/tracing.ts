import type { Context, Span, Tracer } from "@opentelemetry/api";

import { getOpenTelemetry, hasTracerProvider, loadOpenTelemetry, type OpenTelemetry } from "./open-telemetry.ts";
import type { TelemetryOptions } from "./telemetry-options.ts";

/** What makes the spans of a workspace. */
export interface Tracing {
  readonly api: OpenTelemetry;
  readonly tracer: Tracer;
  readonly options: TelemetryOptions;
}

/** Finds out, for each call, whether somebody wants spans; most of the time nobody does, and then it costs next to nothing. */
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

/** Tells whether anybody will see what is inside a context: most traces of a busy service are not recorded. */
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
