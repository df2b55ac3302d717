import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";

import type { JsonValue } from "../../core/json.ts";
import type { FinishReason, ModelContent, ModelPart, ModelUsage } from "../../models/model.ts";
import type { PartAnswer } from "../../models/shims/part-source.ts";
import type { CountedAnswer } from "../events.ts";
import type { ReadyModel } from "../model-source.ts";

/** A complete answer, made from the parts of a stream. */
export interface Answer {
  readonly content: readonly ModelContent[];
  readonly finishReason: FinishReason;
  /** The tool whose call was begun and never came. */
  readonly cutCall?: string;
  readonly usage: ModelUsage;
  /** Which model the provider says has answered. */
  readonly modelId?: string;
  /** The model that answered, as `provider/model`, if the model is a group of several. */
  readonly by?: string;
  /** What the provider ignored, in words. */
  readonly warnings?: readonly string[];
  /** The question for which it was given before, if it comes from the cache of answers. */
  readonly recalled?: string;
  /** Parts whose type Kitbag does not know. */
  readonly unknown: readonly JsonValue[];
}

/** Receives the pieces of an answer as they arrive. */
export interface AnswerListener {
  onText(text: string): void;
  onReasoning(text: string): void;
  onInput(id: string, tool: string, text: string): void;
}

/** The usage of an answer whose tokens the provider did not report. */
export const noUsage: ModelUsage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

const nothing: readonly JsonValue[] = [];

type Metadata = SharedV4ProviderMetadata;

interface OpenPart {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata?: Metadata | undefined;
}

/**
 * Reads an answer to its end. If the stream breaks off, the answer is what had arrived until then, with the finish reason `interrupted`.
 *
 * @throws the error of an `error` part, if nothing else arrived.
 */
export async function readAnswer({ source }: PartAnswer, listener: AnswerListener | undefined): Promise<Answer> {
  const reading = new AnswerReading(listener);
  try {
    for (;;) {
      const next = source.next();
      // A part that has already arrived is not awaited, which would cost a turn of the event loop.
      const part = next instanceof Promise ? await next : next;
      if (part === undefined) return reading.answer();
      reading.add(part);
    }
  } catch (cause) {
    // Stops the model's stream; an error while it stops no longer matters.
    source.cancel(cause).catch(() => undefined);
    throw cause;
  }
}

class AnswerReading {
  readonly #listener: AnswerListener | undefined;
  readonly #content: (ModelContent | OpenPart)[] = [];
  #open: Map<string, OpenPart> | undefined;
  #unknown: JsonValue[] | undefined;
  #warnings: readonly string[] | undefined;
  #toolNames: Map<string, string> | undefined;
  /** How many calls have begun that have not come whole yet, and the tool of the last one. */
  #begun = 0;
  #lastBegun = "";
  #modelId: string | undefined;
  #by: string | undefined;
  #recalled: string | undefined;
  #usage = noUsage;
  #failure: unknown;
  /** Stays `interrupted` if no `finish` part arrives. */
  #finishReason: FinishReason = { unified: "interrupted", raw: undefined };

  constructor(listener: AnswerListener | undefined) {
    this.#listener = listener;
  }

  answer(): Answer {
    const content = this.#content.filter(isWorthKeeping) as readonly ModelContent[];
    // The incomplete input of a tool call is not kept. But users saw it: this is an answer that broke off, not a failed request.
    const cutCall = this.#begun === 0 ? undefined : this.#lastBegun;
    const isEmpty = content.length === 0 && cutCall === undefined;
    if (this.#failure !== undefined && isEmpty) throw this.#failure as Error;
    return {
      content,
      finishReason: this.#finishReason,
      ...(cutCall !== undefined && { cutCall }),
      usage: this.#usage,
      ...(this.#modelId !== undefined && { modelId: this.#modelId }),
      ...(this.#by !== undefined && { by: this.#by }),
      ...(this.#recalled !== undefined && { recalled: this.#recalled }),
      ...(this.#warnings !== undefined && { warnings: this.#warnings }),
      unknown: this.#unknown ?? nothing,
    };
  }

  add(part: ModelPart): void {
    const handle = partHandlers.get(part.type);
    // Patch releases of the provider packages add part types. Unknown parts are kept and do no harm.
    if (handle === undefined) (this.#unknown ??= []).push(toJson(part));
    else handle(this, part as never);
  }

  keep(part: ModelContent): void {
    this.#content.push(part);
  }

  warn({ warnings }: { warnings?: readonly Warning[] }): void {
    if (warnings !== undefined && warnings.length > 0) this.#warnings = warnings.map(describeWarning);
  }

  setModelId({ modelId }: { modelId?: string }): void {
    this.#modelId = modelId;
  }

  finish({ usage, finishReason, providerMetadata }: Extract<ModelPart, { type: "finish" }>): void {
    // Some models leave out the usage or the finish reason.
    this.#usage = usage?.inputTokens === undefined || usage.outputTokens === undefined ? noUsage : usage;
    const { model: by, warning, recalled } = providerMetadata?.["kitbag"] ?? {};
    if (typeof by === "string") this.#by = by;
    if (typeof recalled === "string") this.#recalled = recalled;
    if (typeof warning === "string") this.#warnings = [...(this.#warnings ?? []), warning.slice(0, longestWarning)];
    if (this.#failure === undefined) this.#finishReason = finishReason ?? { unified: "other", raw: undefined };
  }

  fail({ error }: { error: unknown }): void {
    this.#failure ??= error ?? new Error("the model reported a failure without a reason");
    this.#finishReason = { unified: "interrupted", raw: undefined };
  }

  keepCall(part: Extract<ModelContent, { type: "tool-call" }>): void {
    // Some come without having begun.
    if (this.#begun > 0) this.#begun -= 1;
    this.#content.push(part);
  }

  startInput({ id, toolName }: { id: string; toolName: string }): void {
    this.#begun += 1;
    this.#lastBegun = toolName;
    if (this.#listener === undefined) return;
    (this.#toolNames ??= new Map()).set(id, toolName);
    this.#listener.onInput(id, toolName, "");
  }

  extendInput({ id, delta }: { id: string; delta: string }): void {
    this.#listener?.onInput(id, this.#toolNames?.get(id) ?? "", delta);
  }

  start(
    type: OpenPart["type"],
    { id, providerMetadata }: { id: string; providerMetadata?: Metadata | undefined },
  ): OpenPart {
    const open: OpenPart = { type, text: "", ...(providerMetadata && { providerMetadata }) };
    (this.#open ??= new Map()).set(id, open);
    this.#content.push(open);
    return open;
  }

  extend(type: OpenPart["type"], part: { id: string; delta?: string; providerMetadata?: Metadata | undefined }): void {
    const open = this.#open?.get(part.id) ?? this.start(type, { id: part.id });
    if (part.delta === undefined) return;
    open.text += part.delta;
    if (part.providerMetadata !== undefined) merge(open, part.providerMetadata);
    if (this.#listener === undefined) return;
    if (type === "text") this.#listener.onText(part.delta);
    else this.#listener.onReasoning(part.delta);
  }

  end(part: { id: string; providerMetadata?: Metadata | undefined; citations?: unknown }): void {
    const open = this.#open?.get(part.id);
    if (open === undefined) return;
    this.#open?.delete(part.id);
    if (part.providerMetadata !== undefined) merge(open, part.providerMetadata);
    if (part.citations !== undefined) Object.assign(open, { citations: part.citations });
  }
}

type PartHandler = (reading: AnswerReading, part: never) => void;

const keep: PartHandler = (reading, part) => reading.keep(part);
const ignore: PartHandler = () => undefined;

/** How a part of each type is added to the answer. */
const partHandlers: ReadonlyMap<string, PartHandler> = new Map<string, PartHandler>([
  ["text-start", (reading, part) => reading.start("text", part)],
  ["text-delta", (reading, part) => reading.extend("text", part)],
  ["text-end", (reading, part) => reading.end(part)],
  ["reasoning-start", (reading, part) => reading.start("reasoning", part)],
  ["reasoning-delta", (reading, part) => reading.extend("reasoning", part)],
  ["reasoning-end", (reading, part) => reading.end(part)],
  ["tool-input-start", (reading, part) => reading.startInput(part)],
  ["tool-input-delta", (reading, part) => reading.extendInput(part)],
  ["tool-input-end", ignore],
  ["tool-call", (reading, part) => reading.keepCall(part)],
  ["tool-result", keep],
  ["tool-approval-request", keep],
  ["file", keep],
  ["reasoning-file", keep],
  ["source", keep],
  ["custom", keep],
  ["response-metadata", (reading, part) => reading.setModelId(part)],
  ["finish", (reading, part) => reading.finish(part)],
  ["stream-start", (reading, part) => reading.warn(part)],
  ["ping", ignore],
  ["raw", ignore],
  ["error", (reading, part) => reading.fail(part)],
]);

type Warning = Extract<ModelPart, { type: "stream-start" }>["warnings"][number];

const longestWarning = 500;

const verdicts: Readonly<Record<string, string>> = {
  unsupported: "is not supported",
  compatibility: "is supported in another way",
  deprecated: "is deprecated",
};

function describeWarning(warning: Warning): string {
  const { feature = "", details, setting = feature, message } = warning as Partial<Record<string, string>>;
  const what = setting === "" ? undefined : `${setting} ${verdicts[warning.type] ?? ""}`.trimEnd();
  return [what, details ?? message]
    .filter((words) => words !== undefined)
    .join(": ")
    .slice(0, longestWarning);
}

function merge(open: OpenPart, metadata: Metadata): void {
  open.providerMetadata ??= {};
  for (const [provider, values] of Object.entries(metadata)) {
    open.providerMetadata[provider] = { ...open.providerMetadata[provider], ...values };
  }
}

function isWorthKeeping(part: ModelContent | OpenPart): boolean {
  return (part.type !== "text" && part.type !== "reasoning") || part.text !== "" || part.providerMetadata !== undefined;
}

function toJson(part: unknown): JsonValue {
  try {
    return JSON.parse(JSON.stringify(part)) as JsonValue;
  } catch {
    return null;
  }
}

/** Tells which model (of a group: which member) gave an answer, and what the answer cost if the price is known. */
export function priceAnswer(
  { model, priceOf }: Pick<ReadyModel, "model" | "priceOf">,
  answer: Pick<Answer, "by" | "modelId" | "usage">,
): Pick<CountedAnswer, "model" | "cost"> {
  const { by = `${model.provider}/${model.modelId}` } = answer;
  const slash = by.indexOf("/");
  const modelId = answer.modelId ?? by.slice(slash + 1);
  const cost = priceOf(modelId, answer.usage, answer.by);
  return { model: `${by.slice(0, slash)}/${modelId}`, ...(cost !== undefined && { cost }) };
}
