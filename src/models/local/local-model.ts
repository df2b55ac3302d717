import type { Model } from "../model.ts";
import type { LocalModelOptions } from "./scene.ts";

/**
 * Makes the offline model. It finds the tool or the skill whose words match the words of the request, takes the input from explicit
 * values, opens the skill if needed, follows "… then …", and reports the result. Otherwise it asks, or says that it cannot help: it
 * runs nothing for words that it did not understand, and runs a tool that changes things only if the request names that tool.
 *
 * Contract: deterministic; no network, no files, no clock; costs nothing, and estimates tokens. Never calls a tool that it was not
 * shown, and never makes one call twice for one request. Takes time in proportion to the prompt. Rejects only if it is aborted.
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
      return (await load()).answerCall(call, options);
    },
    async doStream(call) {
      const { answerCall, toStreamed } = await load();
      return { stream: ReadableStream.from(toStreamed(answerCall(call, options), call.abortSignal)) };
    },
  };
}

/** What the model is made of is loaded when it is asked the first time: many programs import it and never ask. */
const load = () => import("./answer.ts");
