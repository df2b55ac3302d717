import type { Span } from "@opentelemetry/api";

import type { Runtime } from "../../core/runtime.ts";
import type { Call } from "../call/call.ts";
import { isThenable } from "../is-thenable.ts";
import { conventions, own } from "./semantic-names.ts";
import { isRecording, type CallTrace } from "./tracing.ts";

/** Runs a tool in a span of its own, so that one sees what of a call was the tool, and what it does itself is inside. */
export function traceRun(call: Call, runtime: Runtime, run: () => unknown): unknown {
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

/** Says what holds the tool to its permissions; nobody waits for it. */
async function describe({ entry }: Call, runtime: Runtime, span: Span): Promise<void> {
  try {
    const description = await runtime.describe?.(entry.tool);
    if (description !== undefined && span.isRecording()) span.setAttribute(own.sandbox, description.sandbox);
  } catch {
    // A runtime that cannot say it cannot run the tool either, and that outcome says why.
  }
}
