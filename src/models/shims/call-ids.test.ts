import { expect, test } from "vitest";

import type { ModelCall, ModelMessage } from "../model.ts";
import { withSafeIds } from "./call-ids.ts";

test.for(["call_1", "toolu_01A09q90qw90lq917835lq9", "a".repeat(40), "A-Z_9"])(
  "withSafeIds() answers with the call itself where an id is one that all take: %s",
  (id) => {
    const call: ModelCall = { prompt: [said, called(id), answered(id)] };

    expect(withSafeIds(call)).toBe(call);
  },
);

test.for(["functions.clock:0", "a".repeat(41), "", "é", "a b"])(
  "withSafeIds() gives a call and its result the same other id, each time: %j",
  (id) => {
    const call: ModelCall = { prompt: [said, called(id), answered(id), called("call_1"), answered("call_1")] };
    const before = structuredClone(call);

    const safe = withSafeIds(call);

    const [first, second, ...others] = safe.prompt.flatMap(idsOf);
    expect(first).toMatch(/^[\w-]{1,40}$/u);
    expect(second).toBe(first);
    expect(others).toEqual(["call_1", "call_1"]);
    expect(withSafeIds(call)).toEqual(safe);
    expect(call).toEqual(before);
  },
);

test("withSafeIds() leaves alone what a provider did itself", () => {
  const id = `ws_${"0".repeat(50)}`;
  const call: ModelCall = {
    prompt: [
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: id, toolName: "web_search", input: {}, providerExecuted: true },
          { type: "tool-result", toolCallId: id, toolName: "web_search", output: { type: "text", value: "found" } },
        ],
      },
    ],
  };

  expect(withSafeIds(call)).toBe(call);
});

const said: ModelMessage = { role: "user", content: [{ type: "text", text: "What time is it?" }] };

function called(toolCallId: string): ModelMessage {
  return { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName: "clock", input: {} }] };
}

function answered(toolCallId: string): ModelMessage {
  const output = { type: "text" as const, value: "12:00" };
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName: "clock", output }] };
}

function idsOf(message: ModelMessage): string[] {
  if (message.role !== "assistant" && message.role !== "tool") return [];
  return message.content.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []));
}
