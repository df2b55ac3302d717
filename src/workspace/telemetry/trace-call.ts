import type { Attributes, Context, Link, Span } from "@opentelemetry/api";

import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { defaultKinds, patternRedactor } from "../../core/redaction/pattern-redactor.ts";
import type { Call } from "../call/call.ts";
import type { Next } from "../call/phase.ts";
import { shortenText } from "../../core/cut-text.ts";
import { conventions, executeTool, own } from "./semantic-names.ts";
import { parseTraceContext, traceOf, withTrace, type CallTrace, type Tracing } from "./tracing.ts";

/** Runs a call in a span: inside the span of the call that made it, or where the caller says. */
export async function traceCall(
  call: Call,
  { tracing, run }: { readonly tracing: Tracing; readonly run: Next },
): Promise<ToolOutcome> {
  const { api, tracer } = tracing;
  const { around, links } = findAround(call, tracing);
  const name = call.resolution.ok ? `${executeTool} ${call.address}` : executeTool;
  const kind = api.SpanKind.INTERNAL;
  const span = tracer.startSpan(name, { kind, links, attributes: describeStart(call, tracing) }, around);
  const { traceId: id } = span.spanContext();
  const trace: CallTrace = { tracing, id, context: around, inside: around, run: undefined };
  trace.context = withTrace(api.trace.setSpan(around, span), trace);
  trace.inside = trace.context;
  call.trace = trace;
  try {
    const outcome = await api.context.with(trace.context, run);
    if (span.isRecording()) describeEnd(span, call, outcome);
    return outcome;
  } finally {
    endRun(call);
    span.end();
  }
}

interface Around {
  readonly around: Context;
  readonly links: Link[];
}

function findAround({ options, parent }: Call, { api }: Tracing): Around {
  const active = api.context.active();
  const remote = parseTraceContext(api, options);
  if (remote !== undefined) {
    const here = api.trace.getSpanContext(active);
    // The caller's trace goes on, and knows of the request that brought it here.
    return { around: api.trace.setSpanContext(active, remote), links: here === undefined ? [] : [{ context: here }] };
  }
  // What is active is right if it is inside the call that made this one. It need not be: a program outside of this process asks
  // through a channel that was opened at another time.
  const outer = parent?.trace;
  if (outer === undefined || traceOf(active) === outer) return { around: active, links: [] };
  return { around: outer.inside, links: [] };
}

function describeStart(call: Call, { options }: Tracing): Attributes {
  const { id, parentId, depth, user, resolution } = call;
  return {
    [conventions.operationName]: executeTool,
    [conventions.toolCallId]: id,
    // What there is has no secret in its name; the name that was asked for may be anything.
    [conventions.toolName]: resolution.ok ? call.address : show(call, call.address),
    [own.callDepth]: depth,
    ...(parentId !== undefined && { [own.callParent]: parentId }),
    ...(user !== undefined && options.user === true && { [conventions.userId]: user }),
    ...(resolution.ok && {
      [conventions.toolType]: "function",
      [own.toolSource]: resolution.entry.source,
      [own.toolOwner]: resolution.entry.owner,
      ...(resolution.entry.tool.version !== undefined && { [own.toolVersion]: resolution.entry.tool.version }),
    }),
  };
}

function describeEnd(span: Span, call: Call, outcome: ToolOutcome): void {
  const { tracing } = call.trace as CallTrace;
  const { api, options } = tracing;
  span.setAttributes({
    [own.callRan]: call.ran,
    [own.callQueueMs]: call.queuedMs,
    [own.outputBytes]: call.outputBytes,
    ...(call.costUsd > 0 && { [own.cost]: call.costUsd }),
  });
  if (options.content === true)
    span.setAttribute(conventions.toolCallArguments, showJson(call, call.input as JsonValue));
  if (outcome.status === "failed") {
    span.setAttribute(conventions.errorType, outcome.error.code);
    const message = options.content === true ? { message: show(call, outcome.error.message) } : {};
    span.setStatus({ code: api.SpanStatusCode.ERROR, ...message });
    return;
  }
  if (outcome.recalled !== undefined) span.setAttribute(own.callRecalled, outcome.recalled);
  if (options.content === true) span.setAttribute(conventions.toolCallResult, showJson(call, outcome.output));
}

/** Ends the span of a tool that did not stop when its call did. */
function endRun({ trace, stopped }: Call): void {
  const span = trace?.run;
  if (span?.isRecording() !== true) return;
  span.setAttributes({ [conventions.errorType]: stopped?.code });
  span.end();
}

/** The longest text in a span, in characters. */
const longestText = 8000;

/** A text without secrets, and without what looks like one or like personal data. */
function show({ redactor }: Call, text: string): string {
  const clean = patternRedactor(defaultKinds).text(redactor === undefined ? text : redactor.text(text));
  return shortenText(clean, longestText);
}

function showJson(call: Call, value: JsonValue | undefined): string {
  const { redactor } = call;
  const clean = patternRedactor(defaultKinds).value(redactor === undefined ? value : redactor.value(value));
  return show(call, JSON.stringify(clean) ?? "");
}
