import { KitbagError } from "../../core/errors.ts";
import type { Model, ModelCall, ModelPart } from "../../models/model.ts";
import { checkAnswer, checkMock } from "./check-mock.ts";
import type { MockAnswerParts, MockModelOptions, MockScript } from "./mock-answer.ts";
import { toContent, toParts, toReason, toUsage } from "./mock-parts.ts";
import { providerError } from "./provider-error.ts";
import { toShown, type ShownPrompt } from "./shown-prompt.ts";

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
 * @throws {KitbagError} `option-invalid` if an answer or an option is none; when it is asked, `model-failed` if the script is at its end.
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
      const parts = toParts(whole, call, index);
      const { partDelayMs, drops } = whole;
      const pause = partDelayMs === undefined ? undefined : () => wait(partDelayMs, call.abortSignal);
      return { stream: toStream(parts, pause, drops) };
    },
  };
}

function cut(): Error {
  return new TypeError("terminated");
}

function toStream(
  parts: readonly ModelPart[],
  pause: (() => Promise<void>) | undefined,
  drops: unknown,
): ReadableStream<ModelPart> {
  let next = 0;
  return new ReadableStream<ModelPart>({
    async pull(controller) {
      if (pause !== undefined && next > 0) await pause();
      const part = parts[next++];
      if (part !== undefined) controller.enqueue(part);
      else if (drops !== undefined) controller.error(drops);
      else controller.close();
    },
  });
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
