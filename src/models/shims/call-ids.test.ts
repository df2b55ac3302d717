import { expect, test } from "vitest";

import type { ModelCall, ModelMessage } from "../model.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { withSafeIds } from "./call-ids.ts";

test.for(["call_1", "toolu_01A09q90qw90lq917835lq9", "a".repeat(40), "A-Z_9"])(
  "withSafeIds() shows the call itself where an id is one that all take: %s",
  async (id) => {
    const call: ModelCall = { prompt: [said, called(id), answered(id)] };

    expect(await shownTo("anthropic.messages", call)).toBe(call);
  },
);

test.for(["functions.clock:0", "a".repeat(41), "", "é", "a b"])(
  "withSafeIds() gives a call and its result the same other id, each time: %j",
  async (id) => {
    const call: ModelCall = { prompt: [said, called(id), answered(id), called("call_1"), answered("call_1")] };
    const before = structuredClone(call);

    const safe = await shownTo("openai.responses", call);

    const [first, second, ...others] = safe.prompt.flatMap(idsOf);
    expect(first).toMatch(/^[\w-]{1,40}$/u);
    expect(second).toBe(first);
    expect(others).toEqual(["call_1", "call_1"]);
    expect(await shownTo("azure.chat", call)).toEqual(safe);
    expect(call).toEqual(before);
  },
);

test("withSafeIds() leaves alone what a provider did itself", async () => {
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

  expect(await shownTo("openai.responses", call)).toBe(call);
});

test("withSafeIds() is the model itself where its provider takes all ids", () => {
  const model = mockModel([], { provider: "google.generative-ai" });

  expect(withSafeIds(model)).toBe(model);
});

async function shownTo(provider: string, call: ModelCall): Promise<ModelCall> {
  const model = mockModel(["12:00", "12:00"], { provider });
  const safe = withSafeIds(model);
  await safe.doStream(call);
  await safe.doGenerate(call);
  const [streamed, generated] = model.asked as [ModelCall, ModelCall];
  expect(generated).toEqual(streamed);
  return streamed;
}

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
