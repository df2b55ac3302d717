import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { FinishReason, Model, ModelCall, ModelContent, ModelPart, ModelUsage } from "../../models/model.ts";

/** A call that a mock model asks for. */
export interface MockCall {
  readonly tool: string;
  /** Text is sent as it is, so that it need not be JSON. */
  readonly input?: JsonValue;
  /** @default made up, the same in each run */
  readonly id?: string;
}

/** What a mock model answers: text, or more than that. */
export type MockAnswer =
  | string
  | {
      readonly reasoning?: string;
      readonly text?: string;
      readonly calls?: readonly MockCall[];
      readonly finishReason?: FinishReason["unified"];
      /** Tokens of input and output. @default counted by characters */
      readonly usage?: { readonly input?: number; readonly output?: number };
      /** Thrown when it is asked. */
      readonly error?: unknown;
      /** Sent as an error part after everything else: the answer breaks off. */
      readonly breaks?: unknown;
      /** How long it takes until the first part, and between parts. */
      readonly delayMs?: number;
      readonly partDelayMs?: number;
      /** Sent as they are, before everything else. */
      readonly parts?: readonly ModelPart[];
    };

/** Answers from a list, or a function that answers each question. */
export type MockScript =
  | readonly (MockAnswer | ((call: ModelCall) => MockAnswer))[]
  | ((call: ModelCall) => MockAnswer);

/** What may be said about a mock model. */
export interface MockModelOptions {
  readonly provider?: string;
  readonly modelId?: string;
  /** Waits. @default by the clock */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** A mock model, and what it was asked. */
export interface MockModel extends Model {
  /** The questions so far, oldest first. */
  readonly asked: readonly ModelCall[];
}

/**
 * Makes a model that answers what a script says, as a stream like the others.
 *
 * @throws {KitbagError} when it is asked: `model-failed` if the script is at its end.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 * import { createAgent } from "kitbag/agent";
 * import { mockModel } from "kitbag/testing";
 *
 * const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 4 });
 * const model = mockModel([{ calls: [{ tool: "roll" }] }, "You rolled a 4"]);
 * const agent = createAgent({ model, workspace: createWorkspace({ tools: [roll] }) });
 *
 * const { text } = await agent.run("Roll a die").result;
 * console.assert(text === "You rolled a 4" && model.asked.length === 2);
 * ```
 */
export function mockModel(script: MockScript, options: MockModelOptions = {}): MockModel {
  const { provider = "kitbag.mock", modelId = "mock", wait = waitByClock } = options;
  const asked: ModelCall[] = [];

  async function answer(call: ModelCall): Promise<Exclude<MockAnswer, string>> {
    const index = asked.push(call) - 1;
    const next = typeof script === "function" ? script : script[index];
    if (next === undefined) {
      const reason = `it was asked ${index + 1} times, and its script has ${script.length} answers`;
      throw new KitbagError("model-failed", { model: `${provider}/${modelId}`, reason });
    }
    const made = typeof next === "function" ? next(call) : next;
    const whole = typeof made === "string" ? { text: made } : made;
    if (whole.delayMs !== undefined) await wait(whole.delayMs, call.abortSignal);
    if (whole.error !== undefined) throw whole.error as Error;
    return whole;
  }

  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedUrls: {},
    asked,
    async doGenerate(call) {
      const index = asked.length;
      const whole = await answer(call);
      if (whole.breaks !== undefined) throw whole.breaks as Error;
      return {
        content: toContent(whole, index),
        finishReason: toReason(whole),
        usage: toUsage(whole, call),
        warnings: [],
      };
    },
    async doStream(call) {
      const index = asked.length;
      const whole = await answer(call);
      const parts = toParts(whole, call, index);
      const { partDelayMs } = whole;
      const pause = partDelayMs === undefined ? undefined : () => wait(partDelayMs, call.abortSignal);
      return { stream: toStream(parts, pause) };
    },
  };
}

type Whole = Exclude<MockAnswer, string>;

function toStream(parts: readonly ModelPart[], pause: (() => Promise<void>) | undefined): ReadableStream<ModelPart> {
  let next = 0;
  return new ReadableStream<ModelPart>({
    async pull(controller) {
      if (pause !== undefined && next > 0) await pause();
      const part = parts[next++];
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
}

function toContent({ reasoning, text, calls = [] }: Whole, index: number): ModelContent[] {
  return [
    ...(reasoning === undefined ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...calls.map(({ tool, input = {}, id }, place) => ({
      type: "tool-call" as const,
      toolCallId: id ?? `call-${index}-${place}`,
      toolName: tool,
      input: typeof input === "string" ? input : JSON.stringify(input),
    })),
  ];
}

function toParts(whole: Whole, call: ModelCall, index: number): ModelPart[] {
  const parts: ModelPart[] = [{ type: "stream-start", warnings: [] }, ...(whole.parts ?? [])];
  for (const [place, item] of toContent(whole, index).entries()) {
    if (item.type === "text" || item.type === "reasoning") parts.push(...toDeltas(item.type, String(place), item.text));
    else if (item.type === "tool-call") parts.push(...toInputs(item), item);
  }
  if (whole.breaks !== undefined) return [...parts, { type: "error", error: whole.breaks }];
  return [...parts, { type: "finish", finishReason: toReason(whole), usage: toUsage(whole, call) }];
}

/** Word by word. */
function toDeltas(type: "text" | "reasoning", id: string, text: string): ModelPart[] {
  const words = text.match(/\S+\s*|\s+/gu) ?? [];
  return [
    { type: `${type}-start`, id },
    ...words.map((delta): ModelPart => ({ type: `${type}-delta`, id, delta })),
    { type: `${type}-end`, id },
  ];
}

function toInputs({ toolCallId: id, toolName, input }: Extract<ModelContent, { type: "tool-call" }>): ModelPart[] {
  return [
    { type: "tool-input-start", id, toolName },
    { type: "tool-input-delta", id, delta: input },
    { type: "tool-input-end", id },
  ];
}

function toReason({ finishReason, calls = [] }: Whole): FinishReason {
  return { unified: finishReason ?? (calls.length > 0 ? "tool-calls" : "stop"), raw: undefined };
}

function toUsage({ usage, text = "", reasoning = "" }: Whole, { prompt }: ModelCall): ModelUsage {
  const input = usage?.input ?? Math.ceil(JSON.stringify(prompt).length / 4);
  const output = usage?.output ?? Math.ceil((text.length + reasoning.length) / 4);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

async function waitByClock(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
