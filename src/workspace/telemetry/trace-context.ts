import type { Context, SpanContext, TraceState } from "@opentelemetry/api";

import type { TraceContext } from "../../core/runtime.ts";
import type { OpenTelemetry } from "./open-telemetry.ts";

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
