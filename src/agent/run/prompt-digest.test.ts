import { expect, test } from "vitest";

import type { ModelMessage } from "../../models/model.ts";
import { createPromptDigest } from "./prompt-digest.ts";

const conversation: readonly ModelMessage[] = [
  { role: "user", content: [{ type: "text", text: "Add" }] },
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "1", toolName: "add", input: {} }] },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "1", toolName: "add", output: { type: "text", value: "3" } }],
  },
  { role: "user", content: [{ type: "text", text: "Go on" }] },
  { role: "assistant", content: [{ type: "text", text: "It is 3" }] },
];

test("of() is the same whether or not it was asked for before each message", () => {
  const growing: ModelMessage[] = [];
  const digest = createPromptDigest();
  const steps = conversation.map((message) => {
    growing.push(message);
    return digest.of("system", growing);
  });

  const atOnce = conversation.map((_, index) => createPromptDigest().of("system", conversation.slice(0, index + 1)));

  expect(steps).toEqual(atOnce);
  expect(new Set(steps).size).toBe(conversation.length);
});

test("of() is another one for another system text, another message and another order", () => {
  const [first, second, ...rest] = conversation as [ModelMessage, ModelMessage, ...ModelMessage[]];
  const other: ModelMessage = { role: "user", content: [{ type: "text", text: "Add!" }] };

  const digests = [
    createPromptDigest().of("system", conversation),
    createPromptDigest().of("System", conversation),
    createPromptDigest().of("system", [other, second, ...rest]),
    createPromptDigest().of("system", [second, first, ...rest]),
    createPromptDigest().of("system", []),
  ];

  expect(new Set(digests).size).toBe(digests.length);
});

test("of() begins anew with another list of messages", () => {
  const digest = createPromptDigest();
  digest.of("system", [...conversation]);

  const shorter = digest.of("system", conversation.slice(-2));

  expect(shorter).toBe(createPromptDigest().of("system", conversation.slice(-2)));
});

test("of() of no system text is the same whatever was asked before in this process", () => {
  const before = createPromptDigest().of("", []);
  createPromptDigest().of("Be brief", []);

  expect(createPromptDigest().of("", [])).toBe(before);
});
