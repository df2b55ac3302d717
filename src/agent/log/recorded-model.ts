import { KitbagError } from "../../core/errors.ts";
import type { Model, ModelPart } from "../../models/model.ts";
import { toParts } from "../../models/shims/stream-answer.ts";
import type { ModelAnswered } from "../events.ts";

/** Makes a model that gives the answers of a run again, one after the other, as streams. */
export function recordedModel(answers: readonly ModelAnswered[], first = 0): Model {
  let next = first;

  function answer(): ModelAnswered {
    const found = answers[next++];
    if (found !== undefined) return found;
    const reason = `it was asked ${next} times, and the run has ${answers.length} answers`;
    throw new KitbagError("model-failed", { model: answers[0]?.model ?? "recorded", reason });
  }

  const [provider = "recorded", ...rest] = (answers[0]?.model ?? "recorded/model").split("/");
  return {
    specificationVersion: "v4",
    provider,
    modelId: rest.join("/"),
    supportedUrls: {},
    async doGenerate() {
      const { content, finishReason, usage } = answer();
      return { content: [...content], finishReason: toReason(finishReason), usage, warnings: [] };
    },
    async doStream() {
      return { stream: ReadableStream.from(toStreamed(answer())) };
    },
  };
}

function* toStreamed({ content, finishReason, usage, unknown = [] }: ModelAnswered): Generator<ModelPart> {
  yield* toParts(content);
  yield* unknown as unknown as ModelPart[];
  yield { type: "finish", finishReason: toReason(finishReason), usage };
}

function toReason(unified: string): Extract<ModelPart, { type: "finish" }>["finishReason"] {
  return { unified: unified as "stop", raw: undefined };
}
