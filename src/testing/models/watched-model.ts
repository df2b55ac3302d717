import { KitbagError } from "../../core/errors.ts";
import type { Model, ModelCall, ModelMessage } from "../../models/model.ts";
import { readNativeChange } from "../../models/tool-changes.ts";
import { renderMessages } from "../runs/render-messages.ts";

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
 * await createAgent({ model, workspace: createWorkspace() }).run("Hello");
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

/** What a model was shown, to be read. */
export interface ShownPrompt {
  readonly system: string;
  /** The names of the tools, as it sees them. */
  readonly tools: readonly string[];
  /** The conversation, as `renderRun` writes it. */
  readonly conversation: string;
}

/**
 * Makes what was shown with one of the questions; with negative numbers counted from the end.
 *
 * @throws {KitbagError} `option-invalid` if there are not so many.
 */
export function toShown(asked: readonly ModelCall[], question: number): ShownPrompt {
  const call = asked.at(question);
  if (call === undefined) {
    const expected = asked.length === 0 ? "no question: it was not asked" : `a whole number below ${asked.length}`;
    throw new KitbagError("option-invalid", { option: "question", found: String(question), expected });
  }
  const { prompt, tools = [] } = call;
  return {
    system: prompt.flatMap((message) => (isSystemText(message) ? [message.content] : [])).join("\n\n"),
    tools: tools.map(({ name }) => name),
    conversation: renderMessages(prompt.filter((message) => !isSystemText(message))).join("\n"),
  };
}

/** A change of the list of tools is a message of the system, and a part of the conversation. */
function isSystemText(message: ModelMessage): message is Extract<ModelMessage, { role: "system" }> {
  return message.role === "system" && readNativeChange(message) === undefined;
}
