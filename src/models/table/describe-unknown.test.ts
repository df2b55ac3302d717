import { expect, test } from "vitest";

import { describeUnknown } from "./describe-unknown.ts";

test.for([
  ["anthropic.messages", "claude-sonnet-5", undefined],
  ["ollama.chat", "anything", undefined],
  [
    "anthropic.messages",
    "claude-haiku-9",
    "its context window is taken as 200,000 tokens, the smallest of its family; its price is not known, so it cannot be used with a limit in dollars",
  ],
  [
    "openai-compatible.chat",
    "mine",
    "its context window is not known; its price is not known, so it cannot be used with a limit in dollars",
  ],
  [
    "google.generative-ai",
    "gemini-2.5-pro",
    "its context window is taken as 1,048,576 tokens, the smallest of its family",
  ],
] as const)("describeUnknown() says how %s/%s is treated", async ([provider, modelId, told]) => {
  expect(await describeUnknown({ provider, modelId })).toBe(told);
});
