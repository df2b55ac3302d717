import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import { expect, test } from "vitest";

import { cosineOf, toUnitVector } from "../../core/embedder.ts";
import { toEmbedder } from "./to-embedder.ts";

test("toEmbedder() asks a model of the AI SDK for as many vectors at once as it takes", async () => {
  const asked: number[] = [];
  const embedder = toEmbedder(model({ maxEmbeddingsPerCall: Promise.resolve(2), asked }));

  const vectors = await embedder.embed(["a", "bb", "ccc"]);

  expect(embedder.name).toBe("mine.embedding/one");
  expect(asked).toEqual([2, 1]);
  expect(vectors).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
  ]);
});

test.for([[[[1], [2], [3]]], [[[1]]], [[[1, 2], [1]]], [[[1], ["x"]]], [[[], []]], [[[Number.NaN], [1]]], ["none"]])(
  "embed() rejects answers that are no vectors: %j",
  async ([embeddings]) => {
    const embedder = toEmbedder(model({ answer: () => embeddings as never }));

    await expect(embedder.embed(["a", "b"])).rejects.toMatchObject({ code: "model-failed" });
  },
);

test("embed() says which model failed, and passes on an abort", async () => {
  const failing = toEmbedder(
    model({
      answer() {
        throw new Error("no credit");
      },
    }),
  );
  const stopped = toEmbedder(model({ answer: () => AbortSignal.abort().throwIfAborted() as never }));

  await expect(failing.embed(["a"])).rejects.toThrow('Cannot get an answer from "mine.embedding/one": no credit');
  await expect(stopped.embed(["a"])).rejects.toThrow(DOMException);
});

test("toEmbedder() takes an embedder as it is, and refuses what is none", () => {
  const own = { name: "own", embed: () => Promise.resolve([]) };

  expect(toEmbedder(own)).toBe(own);
  for (const wrong of [undefined, null, "openai", {}, { name: "x" }, 7]) {
    expect(() => toEmbedder(wrong as never)).toThrow('Cannot use "embedder"');
  }
});

test("the local embedder puts texts near each other that say the same, without a network", async () => {
  const embedder = toEmbedder("local");
  const [cat, kitten, tax] = (
    await embedder.embed(["The cat sleeps on the sofa", "A kitten naps on the couch", "How do I file my taxes?"])
  ).map(toUnitVector);

  expect(cat).toHaveLength(512);
  const near = cosineOf(cat ?? new Float32Array(), kitten ?? new Float32Array());
  expect(near).toBeGreaterThan(cosineOf(cat ?? new Float32Array(), tax ?? new Float32Array()) + 0.2);
  await expect(embedder.embed(["x"], { signal: AbortSignal.abort() })).rejects.toThrow(DOMException);
});

interface ModelOptions {
  readonly maxEmbeddingsPerCall?: EmbeddingModelV4["maxEmbeddingsPerCall"];
  readonly asked?: number[];
  readonly answer?: (values: readonly string[]) => number[][];
}

function model({ maxEmbeddingsPerCall, asked = [], answer }: ModelOptions): EmbeddingModelV4 {
  return {
    specificationVersion: "v4",
    provider: "mine.embedding",
    modelId: "one",
    maxEmbeddingsPerCall,
    supportsParallelCalls: true,
    async doEmbed({ values }) {
      asked.push(values.length);
      const embeddings = answer?.(values) ?? values.map((text) => [text.length, 1]);
      return { embeddings, warnings: [] };
    },
  };
}
