import type { Model, ModelAnswer, ModelCall, ModelStream } from "../model.ts";

/** What a wrapper does instead of the model inside. */
export interface ModelMethods {
  doGenerate(call: ModelCall): PromiseLike<ModelAnswer>;
  doStream(call: ModelCall): PromiseLike<ModelStream>;
}

/** A model that is `model` to everybody who asks, and answers with `methods`. */
export function wrapModel(model: Omit<Model, "doGenerate" | "doStream">, methods: ModelMethods): Model {
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    // It may be found out with a request: only when somebody wants to know.
    get supportedUrls() {
      return model.supportedUrls;
    },
    ...methods,
  };
}
