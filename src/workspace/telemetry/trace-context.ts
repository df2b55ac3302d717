import type { Context, SpanContext } from "@opentelemetry/api";

import type { TraceContext } from "../../core/runtime.ts";
import type { OpenTelemetry } from "./open-telemetry.ts";
import { parseTraceState } from "./trace-state.ts";

const grammar = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/u;

/** Reads where in a trace something happens; `undefined` for what is none: then a new trace begins, as the W3C wants it. */
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

/** Writes down where in a trace `context` is, for somebody else; empty if it is in none. */
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
