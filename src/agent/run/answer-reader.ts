import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";

import type { JsonValue } from "../../core/json.ts";
import type { FinishReason, ModelContent, ModelPart, ModelStream, ModelUsage } from "../../models/model.ts";

/** A whole answer, put together from its parts. */
export interface Answer {
  readonly content: readonly ModelContent[];
  readonly finishReason: FinishReason;
  readonly usage: ModelUsage;
  /** Which model the provider says has answered. */
  readonly modelId?: string;
  /** Parts that nobody here knows. */
  readonly unknown: readonly JsonValue[];
}

/** Who wants to see an answer come. */
export interface AnswerListener {
  onText(text: string): void;
  onReasoning(text: string): void;
  onInput(id: string, tool: string, text: string): void;
}

/** Nothing was counted. */
export const noUsage: ModelUsage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

type Metadata = SharedV4ProviderMetadata;

interface OpenPart {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata?: Metadata | undefined;
}

/** Parts that say nothing that is to be kept. */
const passing = new Set(["ping", "raw", "tool-input-end"]);

/**
 * Reads an answer to its end.
 *
 * @throws whatever an `error` part holds.
 */
export async function readAnswer({ stream }: ModelStream, listener: AnswerListener | undefined): Promise<Answer> {
  const reading = new AnswerReading(listener);
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return reading.answer();
      reading.add(value);
    }
  } catch (cause) {
    // Whoever makes the parts is to stop; what it says about that is of no interest any more.
    reader.cancel(cause).catch(() => undefined);
    throw cause;
  }
}

class AnswerReading {
  readonly #listener: AnswerListener | undefined;
  readonly #content: (ModelContent | OpenPart)[] = [];
  readonly #open = new Map<string, OpenPart>();
  readonly #unknown: JsonValue[] = [];
  #toolNames: Map<string, string> | undefined;
  #modelId: string | undefined;
  #usage = noUsage;
  /** An answer that has no end was cut. */
  #finishReason: FinishReason = { unified: "interrupted", raw: undefined };

  constructor(listener: AnswerListener | undefined) {
    this.#listener = listener;
  }

  answer(): Answer {
    const content = this.#content.filter(isWorthKeeping) as readonly ModelContent[];
    return {
      content,
      finishReason: this.#finishReason,
      usage: this.#usage,
      ...(this.#modelId !== undefined && { modelId: this.#modelId }),
      unknown: this.#unknown,
    };
  }

  add(part: ModelPart): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#start(part.type === "text-start" ? "text" : "reasoning", part);
        return;
      case "text-delta":
      case "reasoning-delta":
        this.#extend(part.type === "text-delta" ? "text" : "reasoning", part);
        return;
      case "text-end":
      case "reasoning-end":
        this.#end(part);
        return;
      case "tool-input-start":
        (this.#toolNames ??= new Map()).set(part.id, part.toolName);
        this.#listener?.onInput(part.id, part.toolName, "");
        return;
      case "tool-input-delta":
        this.#listener?.onInput(part.id, this.#toolNames?.get(part.id) ?? "", part.delta);
        return;
      case "finish":
        this.#usage = part.usage;
        this.#finishReason = part.finishReason;
        return;
      case "error":
        throw part.error;
      default:
        this.#keep(part);
    }
  }

  #keep(part: Exclude<ModelPart, { type: "error" | "finish" }>): void {
    switch (part.type) {
      case "tool-call":
      case "tool-result":
      case "tool-approval-request":
      case "file":
      case "reasoning-file":
      case "source":
      case "custom":
        this.#content.push(part);
        return;
      case "response-metadata":
        this.#modelId = part.modelId;
        return;
      case "stream-start":
        return;
      default:
        // The list of types grows in patches of the packages.
        if (!passing.has(part.type)) this.#unknown.push(toJson(part));
    }
  }

  #start(
    type: OpenPart["type"],
    { id, providerMetadata }: { id: string; providerMetadata?: Metadata | undefined },
  ): OpenPart {
    const open: OpenPart = { type, text: "", ...(providerMetadata && { providerMetadata }) };
    this.#open.set(id, open);
    this.#content.push(open);
    return open;
  }

  #extend(type: OpenPart["type"], part: { id: string; delta: string; providerMetadata?: Metadata | undefined }): void {
    const open = this.#open.get(part.id) ?? this.#start(type, { id: part.id });
    open.text += part.delta;
    if (part.providerMetadata !== undefined) merge(open, part.providerMetadata);
    if (this.#listener === undefined) return;
    if (type === "text") this.#listener.onText(part.delta);
    else this.#listener.onReasoning(part.delta);
  }

  #end(part: { id: string; providerMetadata?: Metadata | undefined; citations?: unknown }): void {
    const open = this.#open.get(part.id);
    if (open === undefined) return;
    this.#open.delete(part.id);
    if (part.providerMetadata !== undefined) merge(open, part.providerMetadata);
    if (part.citations !== undefined) Object.assign(open, { citations: part.citations });
  }
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
