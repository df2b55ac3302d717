import { expect, test } from "vitest";

import type { ModelMessage } from "../../../models/model.ts";
import { toNextMessages } from "./chat.ts";

const user: ModelMessage = { role: "user", content: [{ type: "text", text: "Do it" }] };
const answer: ModelMessage = { role: "assistant", content: [{ type: "text", text: "Done" }] };
const call = { type: "tool-call", toolCallId: "1", toolName: "add", input: {} } as const;
const asks: ModelMessage = { role: "assistant", content: [call] };
const result: ModelMessage = {
  role: "tool",
  content: [{ type: "tool-result", toolCallId: "1", toolName: "add", output: { type: "text", value: "3" } }],
};

test.for<[string, readonly ModelMessage[], readonly ModelMessage[]]>([
  ["nothing", [], []],
  ["an answer", [user, answer], [user, answer]],
  ["results", [user, asks, result], [user, asks, result]],
  ["a request without an answer", [user, answer, user], [user, answer]],
  ["a call without a result", [user, answer, user, asks], [user, answer]],
  ["a call without a result behind another", [user, asks, result, asks], [user, asks, result]],
])(
  "toNextMessages() goes on with what providers take of a conversation that ends with %s",
  ([, messages, expected]) => {
    expect(toNextMessages(messages)).toEqual(expected);
  },
);

test("toNextMessages() keeps what a model said before a call that has no result", () => {
  const both: ModelMessage = { role: "assistant", content: [{ type: "text", text: "I try" }, call] };

  const next = toNextMessages([user, both]);

  expect(next).toEqual([user, { role: "assistant", content: [{ type: "text", text: "I try" }] }]);
});
