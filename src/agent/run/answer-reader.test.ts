import { expect, test } from "vitest";

import type { ModelPart } from "../../models/model.ts";
import { toPartAnswer } from "../../models/shims/part-source.ts";
import { noUsage, readAnswer, type Answer } from "./answer-reader.ts";

const finish = { type: "finish", finishReason: { unified: "stop", raw: "end" }, usage: noUsage } as const;

test("readAnswer() puts text and reasoning together, also if their parts come mixed", async () => {
  const answer = await read([
    { type: "reasoning-start", id: "r" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "Hel" },
    { type: "reasoning-delta", id: "r", delta: "I thi" },
    { type: "text-delta", id: "t", delta: "lo" },
    { type: "reasoning-delta", id: "r", delta: "nk" },
    { type: "reasoning-end", id: "r" },
    { type: "text-end", id: "t" },
    finish,
  ]);

  expect(answer.content).toEqual([
    { type: "reasoning", text: "I think" },
    { type: "text", text: "Hello" },
  ]);
});

test("readAnswer() merges what the provider says of a part at its beginning, in between and at its end", async () => {
  const answer = await read([
    { type: "reasoning-start", id: "r", providerMetadata: { acme: { a: 1, b: 1 } } },
    { type: "reasoning-delta", id: "r", delta: "x", providerMetadata: { acme: { b: 2 } } },
    { type: "reasoning-end", id: "r", providerMetadata: { acme: { signature: "s" }, other: { c: 3 } } },
    finish,
  ]);

  expect(answer.content).toEqual([
    { type: "reasoning", text: "x", providerMetadata: { acme: { a: 1, b: 2, signature: "s" }, other: { c: 3 } } },
  ]);
});

test("readAnswer() leaves out empty text, unless the provider says something of it", async () => {
  const answer = await read([
    { type: "text-start", id: "a" },
    { type: "text-end", id: "a" },
    { type: "reasoning-start", id: "b" },
    { type: "reasoning-end", id: "b", providerMetadata: { acme: { signature: "s" } } },
    finish,
  ]);

  expect(answer.content).toEqual([{ type: "reasoning", text: "", providerMetadata: { acme: { signature: "s" } } }]);
});

test("readAnswer() takes deltas that were never started, and ends of nothing", async () => {
  const answer = await read([{ type: "text-end", id: "x" }, { type: "text-delta", id: "y", delta: "Hi" }, finish]);

  expect(answer.content).toEqual([{ type: "text", text: "Hi" }]);
});

test.for(["hologram", "__proto__", "constructor", "toString", ""])(
  "readAnswer() keeps a part of the unknown type %j",
  async (type) => {
    const answer = await read([{ type, value: 1 } as never, finish]);

    expect(answer.unknown).toEqual([{ type, value: 1 }]);
    expect(answer.content).toEqual([]);
  },
);

test("readAnswer() keeps what the provider warns of, in words", async () => {
  const answer = await read([
    {
      type: "stream-start",
      warnings: [
        { type: "unsupported", feature: "seed" },
        { type: "compatibility", feature: "reasoning", details: "none was read as low" },
        { type: "deprecated", setting: "topK", message: "use topP" },
        { type: "other", message: "the model is old" },
      ],
    },
    finish,
  ]);

  expect(answer.warnings).toEqual([
    "seed is not supported",
    "reasoning is supported in another way: none was read as low",
    "topK is deprecated: use topP",
    "the model is old",
  ]);
});

test("readAnswer() does without what a model forgets to say", async () => {
  const answer = await read([
    { type: "text-delta", id: "t" } as never,
    { type: "text-delta", id: "t", delta: "Hello" },
    { type: "finish", usage: {} } as never,
  ]);

  expect(answer).toMatchObject({ content: [{ text: "Hello" }], finishReason: { unified: "other" }, usage: noUsage });
});

test("readAnswer() says that an answer without an end was cut", async () => {
  const answer = await read([{ type: "text-delta", id: "t", delta: "Half" }]);

  expect(answer).toMatchObject({ finishReason: { unified: "interrupted" }, content: [{ text: "Half" }] });
});

test("readAnswer() keeps what came before an error, and throws it if that is nothing", async () => {
  const error = new Error("lost");
  const kept = await read([{ type: "text-delta", id: "t", delta: "Half" }, { type: "error", error }, finish]);

  expect(kept).toMatchObject({ finishReason: { unified: "interrupted" }, content: [{ text: "Half" }] });
  await expect(
    read([
      { type: "stream-start", warnings: [] },
      { type: "error", error },
    ]),
  ).rejects.toBe(error);
});

test("readAnswer() tells the source to stop when it cannot be read", async () => {
  let isCancelled = false;
  const source = {
    next: () => Promise.reject(new Error("gone")),
    async cancel() {
      isCancelled = true;
    },
  };

  await expect(readAnswer({ source }, undefined)).rejects.toThrow("gone");
  expect(isCancelled).toBe(true);
});

function read(parts: readonly ModelPart[]): Promise<Answer> {
  const stream = new ReadableStream<ModelPart>({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
  return readAnswer(toPartAnswer({ stream }), undefined);
}
