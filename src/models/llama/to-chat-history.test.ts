import { expect, test } from "vitest";

import type { ModelAnswer, ModelPrompt } from "../model.ts";
import { toChatHistory } from "./to-chat-history.ts";

test("toChatHistory() puts calls, their results and what is said after into one turn of the model", () => {
  const prompt: ModelPrompt = [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "19 + 23, and the time?" }] },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Two calls." },
        { type: "tool-call", toolCallId: "1", toolName: "add", input: { a: 19, b: 23 } },
        { type: "tool-call", toolCallId: "2", toolName: "now", input: {} },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "2", toolName: "now", output: { type: "text", value: "noon" } },
        { type: "tool-result", toolCallId: "1", toolName: "add", output: { type: "json", value: { sum: 42 } } },
        { type: "tool-result", toolCallId: "9", toolName: "none", output: { type: "text", value: "lost" } },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "42, noon." }] },
    { role: "user", content: [{ type: "text", text: "Thanks" }] },
  ];

  expect(toChatHistory(prompt, [])).toEqual([
    { type: "system", text: "Be brief." },
    { type: "user", text: "19 + 23, and the time?" },
    {
      type: "model",
      response: [
        { type: "segment", segmentType: "thought", text: "Two calls.", ended: true },
        { type: "functionCall", name: "add", params: { a: 19, b: 23 }, result: { sum: 42 }, startsNewChunk: true },
        { type: "functionCall", name: "now", params: {}, result: "noon", startsNewChunk: false },
        "42, noon.",
      ],
    },
    { type: "user", text: "Thanks" },
    { type: "model", response: [] },
  ]);
});

test("toChatHistory() says that a model in this process sees no images", () => {
  const warnings: ModelAnswer["warnings"] = [];
  const picture = { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1]) } } as const;

  const history = toChatHistory(
    [{ role: "user", content: [{ type: "text", text: "What is it?" }, picture] }],
    warnings,
  );

  expect(history[0]).toEqual({ type: "user", text: "What is it?" });
  expect(warnings).toMatchObject([{ type: "unsupported", feature: "a file" }]);
});
