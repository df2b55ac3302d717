import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";

import { cutText } from "../../core/cut-text.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { defaultKinds, patternRedactor } from "../../core/redaction/pattern-redactor.ts";
import type { TraceContext } from "../../core/runtime.ts";
import type { Model, ModelCall, ModelContent } from "../../models/model.ts";
import { providerOf, providerRow } from "../../models/providers.ts";
import { serverLinkOf } from "../../models/servers/server-link.ts";
import { chat, conventions, invokeAgent, own } from "../../workspace/telemetry/semantic-names.ts";
import { type OpenTelemetry, parseTraceContext, toTraceContext } from "../../workspace/telemetry/tracing.ts";
import type { RunOptions } from "../agent-options.ts";
import type { ModelAnswered } from "../events.ts";
import type { RunResult } from "../run-result.ts";
import type { AgentTelemetryOptions, ModelMetrics } from "./model-metrics.ts";

/** The longest text in a span, in characters. */
const longestText = 8000;

/** What a model is asked, for spans that may say it. */
function showQuestion({ prompt }: ModelCall): Attributes {
  const system = prompt.flatMap((message) =>
    message.role === "system" ? [{ type: "text", content: message.content }] : [],
  );
  const others = prompt.flatMap((message) =>
    message.role === "system" ? [] : [{ role: message.role, parts: message.content.map(toPart) }],
  );
  return {
    ...(system.length > 0 && { [conventions.systemInstructions]: showJson(system) }),
    [conventions.inputMessages]: showJson(others),
  };
}

/** What it answers. */
function showAnswer(content: readonly ModelContent[], finishReason: string): Attributes {
  const message = { role: "assistant", parts: content.map(toPart), finish_reason: finishReason };
  return { [conventions.outputMessages]: showJson([message]) };
}

/** A text without what looks like a secret or like personal data. */
function showText(text: string): string {
  const clean = patternRedactor(defaultKinds).text(text);
  return clean.length > longestText ? `${cutText(clean, longestText)}…` : clean;
}

function showJson(value: JsonValue): string {
  // Taken out of the texts first, so that no escape hides what they are.
  return showText(JSON.stringify(patternRedactor(defaultKinds).value(value)));
}

interface AnyPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly result?: unknown;
  readonly mediaType?: string;
}

/** A message part in the form of the OpenTelemetry conventions. A file is named by its type: its bytes do not belong in a span. */
function toPart(given: object): JsonValue {
  const part = given as AnyPart;
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, content: part.text ?? "" };
    case "tool-call":
      return { type: "tool_call", id: part.toolCallId ?? "", name: part.toolName ?? "", arguments: toJson(part.input) };
    case "tool-result":
      return { type: "tool_call_response", id: part.toolCallId ?? "", response: toJson(part.output ?? part.result) };
    default:
      return { type: part.type, ...(part.mediaType !== undefined && { mime_type: part.mediaType }) };
  }
}

/** A value as JSON: bytes in it, and what has no JSON, are left out. */
function toJson(value: unknown): JsonValue {
  try {
    const text = JSON.stringify(value, (_key, inner: unknown) => (inner instanceof Uint8Array ? "…" : inner));
    return text === undefined ? null : (JSON.parse(text) as JsonValue);
  } catch {
    return null;
  }
}

/** Says which model is asked, as the conventions want it. */
function describeModel(model: Model): Attributes {
  const provider = providerOf(model);
  return {
    [conventions.providerName]: providerRow(model).tracedAs ?? provider,
    [conventions.requestModel]: model.modelId,
  };
}

/** Says how it is asked, but not what. */
function describeSettings(call: ModelCall): Attributes {
  return {
    [conventions.requestMaxTokens]: call.maxOutputTokens,
    [conventions.requestTemperature]: call.temperature,
    [conventions.requestTopP]: call.topP,
    [conventions.requestTopK]: call.topK,
    [conventions.requestSeed]: call.seed,
    [conventions.requestStop]: call.stopSequences,
  };
}

/** Says what an answer used, but not what it is. */
function describeAnswer({ model, finishReason, usage, cost }: ModelAnswered): Attributes {
  const { inputTokens, outputTokens } = usage;
  return {
    [conventions.responseModel]: model.slice(model.indexOf("/") + 1),
    [conventions.finishReasons]: [finishReason],
    [conventions.inputTokens]: inputTokens.total,
    [conventions.outputTokens]: outputTokens.total,
    [conventions.cacheReadTokens]: inputTokens.cacheRead,
    [conventions.cacheWriteTokens]: inputTokens.cacheWrite,
    [conventions.reasoningTokens]: outputTokens.reasoning,
    [own.cost]: cost,
  };
}

/** What makes the spans and metrics of an agent. */
export interface TraceParts {
  readonly api: OpenTelemetry;
  readonly tracer: Tracer;
  readonly metrics: ModelMetrics | undefined;
  readonly options: Pick<AgentTelemetryOptions, "content" | "user">;
}

/** The spans of one run: of itself, of each step in it, and of each question in a step. */
export interface RunTrace {
  /** Begins a step, and ends the previous one. */
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
    const { api, tracer, metrics } = this.#parts;
    const asked = describeModel(model);
    if (serverLinkOf(model) !== undefined) metrics?.watchGpus();
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
      metrics?.addFailure(asked, performance.now() - startedAt, code);
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
