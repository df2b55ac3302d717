import { KitbagError } from "../../core/errors.ts";
import type { Model, ModelPart, ModelStream } from "../../models/model.ts";
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
      return toStream(answer());
    },
  };
}

function toStream(answer: ModelAnswered): ModelStream {
  const parts = toParts(answer);
  let next = 0;
  return {
    stream: new ReadableStream<ModelPart>({
      pull(controller) {
        const part = parts[next++];
        if (part === undefined) controller.close();
        else controller.enqueue(part);
      },
    }),
  };
}

function toParts({ content, finishReason, usage, unknown = [] }: ModelAnswered): ModelPart[] {
  const parts: ModelPart[] = [];
  for (const [index, item] of content.entries()) {
    if (item.type !== "text" && item.type !== "reasoning") {
      parts.push(item);
      continue;
    }
    const { type, text, providerMetadata } = item;
    const id = String(index);
    parts.push(
      { type: `${type}-start`, id },
      { type: `${type}-delta`, id, delta: text },
      { type: `${type}-end`, id, ...(providerMetadata && { providerMetadata }) },
    );
  }
  return [
    ...parts,
    ...(unknown as unknown as ModelPart[]),
    { type: "finish", finishReason: toReason(finishReason), usage },
  ];
}

function toReason(unified: string): Extract<ModelPart, { type: "finish" }>["finishReason"] {
  return { unified: unified as "stop", raw: undefined };
}
