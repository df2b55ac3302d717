import type { Model, ModelAnswer, ModelCall, ModelPart } from "../model.ts";
import { toParts, type WholeAnswer } from "./answer/stream-content.ts";
import type { LocalModelOptions } from "./local-model-options.ts";

/**
 * Makes the offline model. It matches the request with the tools and the skills that it is shown, fills the inputs from the words of the
 * request by their schemas, opens a skill if that fits better, follows "… then …", asks for what is missing and says what came back.
 *
 * Contract: deterministic; no network, no files, no clock; costs nothing, and counts tokens by estimate. Never calls anything that it was not
 * shown, never makes one call twice for one request. Takes time in proportion to the prompt. Rejects only if it is aborted.
 *
 * @example
 * ```ts
 * import { localModel } from "kitbag/models";
 *
 * const answer = await localModel().doGenerate({
 *   prompt: [{ role: "user", content: [{ type: "text", text: "What is the weather in Lisbon?" }] }],
 *   tools: [
 *     {
 *       type: "function",
 *       name: "get_weather",
 *       description: "Tells the weather of a city.",
 *       inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *     },
 *   ],
 * });
 *
 * const [call] = answer.content;
 * console.assert(call?.type === "tool-call" && call.toolName === "get_weather" && call.input === '{"city":"Lisbon"}');
 * ```
 */
export function localModel(options: LocalModelOptions = {}): Model {
  return {
    specificationVersion: "v4",
    provider: "kitbag",
    modelId: "local",
    supportedUrls: {},
    async doGenerate(call) {
      return toAnswer(await answer(call, options));
    },
    async doStream(call) {
      return { stream: toStream(await answer(call, options), call.abortSignal) };
    },
  };
}

/** What the model is made of is loaded when it is asked the first time: many who import it never ask. */
async function answer(call: ModelCall, options: LocalModelOptions): Promise<WholeAnswer> {
  const { answerCall } = await import("./answer/answer-call.ts");
  return answerCall(call, options);
}

function toAnswer({ content, finishReason, usage }: WholeAnswer): ModelAnswer {
  return { content: [...content], finishReason, usage, warnings: [], response: { modelId: "local" } };
}

function toStream(answer: WholeAnswer, signal: AbortSignal | undefined): ReadableStream<ModelPart> {
  const parts = toParts(answer);
  return new ReadableStream<ModelPart>({
    pull(controller) {
      if (signal?.aborted === true) return controller.error(signal.reason);
      const { value, done } = parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}
