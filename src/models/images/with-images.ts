import type { Model, ModelCall } from "../model.ts";
import { wrapModel } from "../shims/wrap-model.ts";
import { createImageCache } from "./image-cache.ts";
import { prepareImages, type PrepareImagesOptions } from "./prepare-images.ts";

/**
 * Gives a model every picture that {@link prepareImages} can make it take. Wrap each model itself and not several that are one:
 * what its provider takes is found by its name.
 *
 * Contract: a question without pictures goes to the model as it is.
 *
 * @example
 * ```ts
 * import { resolveModel, withImages } from "kitbag/models";
 *
 * const model = withImages(await resolveModel("ollama/qwen3-vl"));
 *
 * console.assert(model.modelId === "qwen3-vl");
 * ```
 *
 * @throws {KitbagError} when it is asked (rejects) as {@link prepareImages} does
 */
export function withImages(model: Model, options: Omit<PrepareImagesOptions, "signal"> = {}): Model {
  const { cache = createImageCache() } = options;

  async function prepare(call: ModelCall): Promise<ModelCall> {
    const { abortSignal: signal } = call;
    const prompt = await prepareImages(call.prompt, model, { ...options, cache, ...(signal && { signal }) });
    return prompt === call.prompt ? call : { ...call, prompt };
  }

  return wrapModel(model, {
    doGenerate: async (call) => model.doGenerate(await prepare(call)),
    doStream: async (call) => model.doStream(await prepare(call)),
  });
}
