import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3File,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";

import type { Model, ModelAnswer, ModelCall, ModelContent, ModelPart, ModelStream } from "../model.ts";
import { mapSource, toPartAnswer } from "./part-source.ts";
import { toV3Prompt } from "./to-v3-prompt.ts";
import { wrapParts } from "./wrap-model.ts";

type Warnings = ModelAnswer["warnings"];

/** Makes a model of version 4 from one of version 3. */
export function fromV3(model: LanguageModelV3): Model {
  const { provider, modelId } = model;
  const toV3Call = (options: ModelCall): LanguageModelV3CallOptions => {
    const { reasoning: _, prompt, ...call } = options;
    return { ...call, prompt: toV3Prompt(prompt, { provider, modelId }) };
  };
  return wrapParts(model, {
    async doGenerate(call) {
      const answer = await model.doGenerate(toV3Call(call));
      return {
        ...answer,
        content: answer.content.map(toContent),
        warnings: [...(answer.warnings ?? []), ...missingSettings(call)],
      };
    },
    async ask(call) {
      // What the two versions do not share is changed part by part; all else is the same.
      const answer = toPartAnswer((await model.doStream(toV3Call(call))) as ModelStream);
      const missing = missingSettings(call);
      const change = (part: ModelPart): ModelPart => toPart(part as LanguageModelV3StreamPart, missing);
      return { ...answer, source: mapSource(answer.source, change) };
    },
  });
}

/** Version 3 has no word for how much a model thinks: the caller is told. */
function missingSettings({ reasoning }: ModelCall): Warnings {
  if (reasoning === undefined || reasoning === "provider-default") return [];
  return [
    { type: "unsupported", feature: "reasoning", details: "the model is of version 3 of the interface or older" },
  ];
}

function toContent(content: LanguageModelV3Content): ModelContent {
  return content.type === "file" ? toFile(content) : content;
}

function toPart(part: LanguageModelV3StreamPart, missing: Warnings): ModelPart {
  if (part.type === "file") return toFile(part);
  if (part.type === "stream-start" && missing.length > 0)
    return { ...part, warnings: [...(part.warnings ?? []), ...missing] };
  return part;
}

function toFile(file: LanguageModelV3File): Extract<ModelContent, { type: "file" }> {
  return { ...file, data: { type: "data", data: file.data } };
}
