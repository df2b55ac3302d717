import type { Model, ModelCall } from "../../models/model.ts";
import { toShown, type ShownPrompt } from "./shown-prompt.ts";

/** A model, and what it was asked. */
export interface WatchedModel extends Model {
  /** The questions so far, oldest first. */
  readonly asked: readonly ModelCall[];
  /** As that of a mock model. */
  shown(question?: number): ShownPrompt;
}

/**
 * Makes a model that answers as another does, and keeps what it was asked.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { createAgent } from "kitbag/agent";
 * import { resolveModel } from "kitbag/models";
 * import { watchedModel } from "kitbag/testing";
 *
 * const model = watchedModel(await resolveModel("local"));
 * await createAgent({ model, workspace: createWorkspace() }).run("Hello").result;
 * console.assert(model.shown(0).conversation === "user: Hello");
 * ```
 */
export function watchedModel(model: Model): WatchedModel {
  const asked: ModelCall[] = [];
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    asked,
    shown: (question = -1) => toShown(asked, question),
    doGenerate(call) {
      asked.push(call);
      return model.doGenerate(call);
    },
    doStream(call) {
      asked.push(call);
      return model.doStream(call);
    },
  };
}
