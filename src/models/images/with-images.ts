import type { Model, ModelCall } from "../model.ts";
import { askForParts, wrapParts } from "../shims/wrap-model.ts";
import { countImages } from "./count-images.ts";
import { createImageCache } from "./image-cache.ts";
import type { PrepareImagesOptions } from "./prepare-images.ts";

/**
 * Gives a model every picture that `prepareImages` can make it take. Wrap each model itself and not several that are one:
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
 * @throws {KitbagError} when it is asked (rejects) as `prepareImages` does
 */
export function withImages(model: Model, options: Omit<PrepareImagesOptions, "signal"> = {}): Model {
  let cache = options.cache;

  async function prepare(call: ModelCall): Promise<ModelCall> {
    // It brings all that downloads and converts: who shows no pictures does without.
    const { prepareImages } = await import("./prepare-images.ts");
    cache ??= createImageCache();
    const { abortSignal: signal } = call;
    const prompt = await prepareImages(call.prompt, model, { ...options, cache, ...(signal && { signal }) });
    return prompt === call.prompt ? call : { ...call, prompt };
  }

  return wrapParts(model, {
    doGenerate: (call) =>
      countImages(call.prompt) === 0
        ? model.doGenerate(call)
        : prepare(call).then((prepared) => model.doGenerate(prepared)),
    ask: (call) =>
      countImages(call.prompt) === 0
        ? askForParts(model, call)
        : prepare(call).then((prepared) => askForParts(model, prepared)),
  });
}
