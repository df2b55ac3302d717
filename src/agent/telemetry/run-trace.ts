import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";

import { isKitbagError } from "../../core/errors.ts";
import type { TraceContext } from "../../core/runtime.ts";
import type { Model, ModelCall } from "../../models/model.ts";
import type { OpenTelemetry } from "../../workspace/telemetry/open-telemetry.ts";
import { chat, conventions, invokeAgent, own } from "../../workspace/telemetry/semantic-names.ts";
import { parseTraceContext, toTraceContext } from "../../workspace/telemetry/trace-context.ts";
import type { RunOptions } from "../agent-options.ts";
import type { ModelAnswered } from "../events.ts";
import type { RunResult } from "../run-result.ts";
import type { AgentTelemetryOptions } from "./agent-telemetry-options.ts";
import { describeAnswer, describeModel, describeSettings } from "./describe-model.ts";
import type { ModelMetrics } from "./model-metrics.ts";
import { showAnswer, showQuestion, showText } from "./show-content.ts";

/** What makes the spans and metrics of an agent. */
export interface TraceParts {
  readonly api: OpenTelemetry;
  readonly tracer: Tracer;
  readonly metrics: ModelMetrics | undefined;
  readonly options: Pick<AgentTelemetryOptions, "content" | "user">;
}

/** The spans of one run: of itself, of each step in it, and of each question in a step. */
export interface RunTrace {
  /** Begins a step; the one before is over. */
  startStep(step: number): void;
  /** Asks a model in a span of its own, which ends with `endModel`, or when the model fails. */
  askModel<Answer>(model: Model, call: ModelCall, ask: () => Promise<Answer>): Promise<Answer>;
  endModel(answer: ModelAnswered): void;
  /** Where calls of tools are in the trace. */
  around(): TraceContext;
  end(result: RunResult): void;
}

/** Begins the span of a run: where its caller says, or inside what is active. */
export function startRunTrace(parts: TraceParts, id: string, options: RunOptions): RunTrace {
  const { api, tracer } = parts;
  const active = api.context.active();
  const remote = parseTraceContext(api, options);
  const around = remote === undefined ? active : api.trace.setSpanContext(active, remote);
  const attributes: Attributes = {
    [conventions.operationName]: invokeAgent,
    [own.runId]: id,
    [conventions.conversationId]: options.conversation,
    ...(parts.options.user === true && { [conventions.userId]: options.user }),
  };
  const span = tracer.startSpan(invokeAgent, { kind: api.SpanKind.INTERNAL, attributes }, around);
  return new SpanTree(parts, span, api.trace.setSpan(around, span));
}

/** A question that a model has not answered yet. */
interface OpenQuestion {
  readonly span: Span;
  readonly asked: Attributes;
}

class SpanTree implements RunTrace {
  readonly #parts: TraceParts;
  readonly #run: Span;
  readonly #inside: Context;
  #step: Span | undefined;
  #inStep: Context;
  #question: OpenQuestion | undefined;

  constructor(parts: TraceParts, run: Span, inside: Context) {
    this.#parts = parts;
    this.#run = run;
    this.#inside = inside;
    this.#inStep = inside;
  }

  startStep(step: number): void {
    const { api, tracer } = this.#parts;
    this.#step?.end();
    this.#step = tracer.startSpan("step", { attributes: { [own.runStep]: step } }, this.#inside);
    this.#inStep = api.trace.setSpan(this.#inside, this.#step);
  }

  async askModel<Answer>(model: Model, call: ModelCall, ask: () => Promise<Answer>): Promise<Answer> {
    const { api, tracer } = this.#parts;
    const asked = describeModel(model);
    this.#run.setAttributes(asked);
    const attributes = { [conventions.operationName]: chat, ...asked, ...describeSettings(call) };
    const kind = api.SpanKind.CLIENT;
    const span = tracer.startSpan(`${chat} ${model.modelId}`, { kind, attributes }, this.#inStep);
    this.#question = { span, asked };
    if (this.#mayShow(span)) span.setAttributes(showQuestion(call));
    const startedAt = performance.now();
    try {
      return await api.context.with(api.trace.setSpan(this.#inStep, span), ask);
    } catch (cause) {
      this.#question = undefined;
      const code = isKitbagError(cause) ? cause.code : "_OTHER";
      this.#parts.metrics?.addFailure(asked, performance.now() - startedAt, code);
      this.#fail(span, code, cause instanceof Error ? cause.message : undefined);
      span.end();
      throw cause;
    }
  }

  endModel(answer: ModelAnswered): void {
    if (this.#question === undefined) return;
    const { span, asked } = this.#question;
    this.#question = undefined;
    this.#parts.metrics?.addAnswer(asked, answer);
    span.setAttributes(describeAnswer(answer));
    if (this.#mayShow(span)) span.setAttributes(showAnswer(answer.content, answer.finishReason));
    span.end();
  }

  around(): TraceContext {
    return toTraceContext(this.#parts.api, this.#inStep);
  }

  end({ status, reason, error, steps, usage, cost }: RunResult): void {
    this.#question?.span.end();
    this.#step?.end();
    const span = this.#run;
    span.setAttributes({
      [own.runStatus]: status,
      [own.runReason]: reason,
      [own.runSteps]: steps,
      [own.runCalls]: usage.toolCalls,
      [own.cost]: cost,
      [conventions.inputTokens]: usage.inputTokens,
      [conventions.outputTokens]: usage.outputTokens,
    });
    if (error !== undefined) this.#fail(span, error.code, error.message);
    span.end();
  }

  #mayShow(span: Span): boolean {
    return this.#parts.options.content === true && span.isRecording();
  }

  #fail(span: Span, code: string, message: string | undefined): void {
    span.setAttribute(conventions.errorType, code);
    const shown = message !== undefined && this.#mayShow(span) ? { message: showText(message) } : {};
    span.setStatus({ code: this.#parts.api.SpanStatusCode.ERROR, ...shown });
  }
}
