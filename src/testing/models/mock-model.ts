import { KitbagError } from "../../core/errors.ts";
import type { FinishReason, Model, ModelCall, ModelContent, ModelPart, ModelUsage } from "../../models/model.ts";
import { toParts } from "../../models/shims/stream-answer.ts";
import { checkAnswer, checkMock } from "./check-mock.ts";
import type { MockAnswerParts, MockModelOptions, MockReasoning, MockScript } from "./mock-answer.ts";
import { providerError } from "./provider-error.ts";
import { type ShownPrompt, toShown } from "./watched-model.ts";

export type {
  MockAnswer,
  MockAnswerParts,
  MockCall,
  MockFile,
  MockModelOptions,
  MockReasoning,
  MockScript,
  MockUsage,
} from "./mock-answer.ts";

/** A mock model, and what it was asked. */
export interface MockModel extends Model {
  /** The questions so far, oldest first. */
  readonly asked: readonly ModelCall[];
  /**
   * What it was shown with one of the questions, to be read; with negative numbers counted from the end.
   *
   * @default the last one
   * @throws {KitbagError} `option-invalid` if it was not asked so often.
   */
  shown(question?: number): ShownPrompt;
}

/**
 * Makes a model that answers what a script says, as a stream like the others.
 *
 * @throws {KitbagError} `option-invalid` if an answer or an option is wrong; questions fail with `model-failed` after the script's end.
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
 * const { text } = await agent.run("Roll a die");
 * console.assert(text === "You rolled a 4" && model.asked.length === 2);
 * console.assert(model.shown().tools.join() === "roll");
 * ```
 */
export function mockModel(script: MockScript, options: MockModelOptions = {}): MockModel {
  checkMock(script, options);
  const { provider = "kitbag.mock", modelId = "mock", wait = waitByClock } = options;
  const asked: ModelCall[] = [];

  async function answer(call: ModelCall): Promise<MockAnswerParts> {
    const index = asked.push(call) - 1;
    const next = typeof script === "function" ? script : script[index];
    if (next === undefined) {
      const reason = `it was asked ${index + 1} times, and its script has ${script.length} answers`;
      throw new KitbagError("model-failed", { model: `${provider}/${modelId}`, reason });
    }
    const made = typeof next === "function" ? await next(call) : next;
    if (made !== next) checkAnswer(made, `answer ${index + 1}`);
    const whole = typeof made === "string" ? { text: made } : made;
    if (whole.delayMs !== undefined) await wait(whole.delayMs, call.abortSignal);
    if (whole.refused !== undefined) throw providerError(whole.refused);
    if (whole.error !== undefined) throw whole.error as Error;
    return whole;
  }

  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedUrls: {},
    asked,
    shown: (question = -1) => toShown(asked, question),
    async doGenerate(call) {
      const index = asked.length;
      const whole = await answer(call);
      const failure = whole.breaks ?? whole.drops ?? (whole.cutAfter === undefined ? undefined : cut());
      if (failure !== undefined) throw failure as Error;
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
      const parts = toAllParts(whole, call, index);
      const { partDelayMs, drops } = whole;
      const pause = partDelayMs === undefined ? undefined : () => wait(partDelayMs, call.abortSignal);
      return { stream: ReadableStream.from(play(parts, pause, drops)) };
    },
  };
}

function cut(): Error {
  return new TypeError("terminated");
}

async function* play(
  parts: readonly ModelPart[],
  pause: (() => Promise<void>) | undefined,
  drops: unknown,
): AsyncGenerator<ModelPart> {
  for (const part of parts) {
    yield part;
    await pause?.();
  }
  if (drops !== undefined) throw drops as Error;
}

async function waitByClock(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** What an answer holds; `index` says which one it is, for the ids of its calls. */
function toContent({ reasoning, text, files = [], calls = [] }: MockAnswerParts, index: number): ModelContent[] {
  return [
    ...(reasoning === undefined ? [] : [toReasoning(reasoning)]),
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...files.map(({ mediaType, data }) => ({
      type: "file" as const,
      mediaType,
      data: { type: "data" as const, data },
    })),
    ...calls.map(({ tool, input = {}, id }, place) => ({
      type: "tool-call" as const,
      toolCallId: id ?? `call-${index}-${place}`,
      toolName: tool,
      input: typeof input === "string" ? input : JSON.stringify(input),
    })),
  ];
}

function toReasoning(reasoning: string | MockReasoning): Extract<ModelContent, { type: "reasoning" }> {
  if (typeof reasoning === "string") return { type: "reasoning", text: reasoning };
  const { text, metadata } = reasoning;
  return { type: "reasoning", text, ...(metadata && { providerMetadata: metadata }) };
}

/** The parts of an answer, up to where it is cut. */
function toAllParts(answer: MockAnswerParts, call: ModelCall, index: number): ModelPart[] {
  const parts: ModelPart[] = [
    { type: "stream-start", warnings: [] },
    ...(answer.parts ?? []),
    ...toParts(toContent(answer, index)),
  ];
  const { breaks, drops, cutAfter } = answer;
  if (breaks !== undefined) return [...parts.slice(0, cutAfter), { type: "error", error: breaks }];
  if (cutAfter !== undefined || drops !== undefined) return parts.slice(0, cutAfter);
  return [...parts, { type: "finish", finishReason: toReason(answer), usage: toUsage(answer, call) }];
}

/** Why an answer ended. */
function toReason({ finishReason, calls = [] }: MockAnswerParts): FinishReason {
  return { unified: finishReason ?? (calls.length > 0 ? "tool-calls" : "stop"), raw: undefined };
}

/** What an answer used. */
function toUsage({ usage, text = "", reasoning = "" }: MockAnswerParts, { prompt }: ModelCall): ModelUsage {
  const thought = typeof reasoning === "string" ? reasoning : reasoning.text;
  const input = usage?.input ?? Math.ceil(JSON.stringify(prompt).length / 4);
  const output = usage?.output ?? Math.ceil((text.length + thought.length) / 4);
  const { cacheRead = 0, cacheWrite = 0, reasoning: thinking = 0 } = usage ?? {};
  return {
    inputTokens: { total: input, noCache: Math.max(0, input - cacheRead - cacheWrite), cacheRead, cacheWrite },
    outputTokens: { total: output, text: Math.max(0, output - thinking), reasoning: thinking },
  };
}
