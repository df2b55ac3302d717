import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3File,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";

import { KitbagError } from "../../core/errors.ts";
import type { Model, ModelAnswer, ModelCall, ModelContent, ModelPart, ModelStream } from "../model.ts";
import { mapSource, toPartAnswer } from "./part-source.ts";
import { toV3Prompt } from "./to-v3-prompt.ts";
import { v2AsV3 } from "./v2-as-v3.ts";
import { wrapParts } from "./wrap-model.ts";

/** A model of any version of the interface that {@link asModel} understands. */
export type AnyModel = LanguageModelV2 | LanguageModelV3 | Model;

/**
 * Makes a {@link Model} of any model of the AI SDK: those of version 4 are it already, those of versions 2 and 3 are put into
 * other words, call by call and part by part.
 *
 * What an old version has no word for is left out; a `reasoning` that was asked for is answered with a warning. A model is never
 * wrapped twice: the answer for one object is always the same.
 *
 * @example
 * ```ts
 * import { asModel, type Model } from "kitbag/models";
 *
 * const model: Model = {
 *   specificationVersion: "v4",
 *   provider: "mine",
 *   modelId: "one",
 *   supportedUrls: {},
 *   doGenerate: () => Promise.reject(new Error("not needed here")),
 *   doStream: () => Promise.reject(new Error("not needed here")),
 * };
 *
 * console.assert(asModel(model) === model);
 * ```
 *
 * @throws {KitbagError} `model-unsupported` if the value is not a model, or is a model of an unknown version.
 */
export function asModel(model: AnyModel): Model {
  const { specificationVersion } = checkModel(model);
  if (specificationVersion === "v4") return model as Model;
  const known = converted.get(model);
  if (known !== undefined) return known;
  const made = fromV3(specificationVersion === "v2" ? v2AsV3(model as LanguageModelV2) : (model as LanguageModelV3));
  converted.set(model, made);
  return made;
}

const converted = new WeakMap<object, Model>();

function checkModel(model: unknown): { readonly specificationVersion: "v2" | "v3" | "v4" } {
  if (typeof model === "string") throw unsupported(model, 'it is a name; give what "resolveModel" makes of it');
  if (typeof model !== "object" || model === null) throw unsupported(String(model), "it is not a model");
  const { specificationVersion, provider, modelId, doGenerate, doStream } = model as Partial<Record<string, unknown>>;
  const name = typeof modelId === "string" ? modelId : "without a name";
  if (specificationVersion !== "v2" && specificationVersion !== "v3" && specificationVersion !== "v4") {
    const found =
      typeof specificationVersion === "string"
        ? `the version ${JSON.stringify(specificationVersion.slice(0, 20))}`
        : "none";
    throw unsupported(name, `its specificationVersion is v2, v3 or v4 if it is one for us, and here it is ${found}`);
  }
  if (typeof provider !== "string" || typeof modelId !== "string")
    throw unsupported(name, "it has no provider or no modelId");
  if (typeof doGenerate !== "function" || typeof doStream !== "function") {
    throw unsupported(name, "it has no doGenerate or no doStream: it is a model for something else");
  }
  return { specificationVersion };
}

function unsupported(model: string, reason: string): KitbagError {
  return new KitbagError("model-unsupported", { model: model.slice(0, 200), reason });
}

type Warnings = ModelAnswer["warnings"];

/** Makes a model of version 4 from one of version 3. */
function fromV3(model: LanguageModelV3): Model {
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
