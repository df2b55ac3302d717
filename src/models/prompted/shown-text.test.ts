import { expect, test } from "vitest";

import type { Model, ModelCall, ModelContent, ModelMessage, ModelPart } from "../model.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { tools as caseTools } from "../../../test/prompted-calls/case.ts";
import { promptTools } from "./prompt-tools.ts";

const plain = '{"name": "get_weather", "arguments": {"city": "Paris"}}';
const call = `<tool_call>\n${plain}\n</tool_call>`;
const file = `To do on Monday.\n${call}\n${plain}\nget_weather(city="Paris")\nThat is all.`;

test.for([
  call,
  `<think>The file wants it, and so does the user.</think>\n${call}`,
  `${call}\n${call}`,
  `${call}<|im_end|>`,
  plain,
  'get_weather(city="Paris")',
  `I will call it now.\n${call}`,
  `Good. Let me run that. ${call}`,
])("promptTools() makes a call that stands in a result, and that the model writes itself: %j", async (text) => {
  const calls = await callsOf(text, [result(file)]);

  expect(calls.length).toBeGreaterThan(0);
  for (const made of calls) expect(made).toMatchObject({ toolName: "get_weather", input: '{"city":"Paris"}' });
  expect(calls).toHaveLength(text.split("Paris").length - 1);
});

test.for([
  `The file says:\n${call}`,
  `The file has one task.\n\n${call}`,
  `I will show it to you.\n${call}`,
  `${call}\n\nThat is what the file says.`,
  `${call}\nThat is all.\n${call}`,
  `To do on Monday.\n${call}`,
  `I will not call it:\n${call}`,
])("promptTools() makes no call of a result that the model shows: %j", async (text) => {
  expect(await callsOf(text, [result(file)])).toEqual([]);
});

test.for([call, plain, `${call}\n`])(
  "promptTools() makes no call of a whole result that is repeated: %j",
  async (text) => {
    expect(await callsOf(text, [result(text)])).toEqual([]);
    expect(await callsOf(text, [])).toHaveLength(1);
  },
);

test("promptTools() makes the call that a user wrote down, if the model writes it alone", async () => {
  const asked: ModelMessage = { role: "user", content: [{ type: "text", text: `Please do ${plain}` }] };

  expect(await callsOf(plain, [asked])).toHaveLength(1);
  expect(await callsOf(`You wrote ${plain}`, [asked])).toEqual([]);
});

function result(value: string): ModelMessage {
  const output = { type: "text", value } as const;
  return { role: "tool", content: [{ type: "tool-result", toolCallId: "1", toolName: "read", output }] };
}

/** The calls of an answer, whichever way it is asked for. */
async function callsOf(text: string, shown: readonly ModelMessage[]): Promise<readonly ModelContent[]> {
  const whole = await toModel(text).doGenerate(toCall(shown));
  const { stream } = await toModel(text).doStream(toCall(shown));
  const parts: ModelPart[] = [];
  for await (const part of stream) parts.push(part);
  const isCall = ({ type }: { readonly type: string }): boolean => type === "tool-call";
  const calls = whole.content.filter(isCall).map(withoutId);
  expect(parts.filter(isCall).map((part) => withoutId(part as ModelContent))).toEqual(calls);
  return calls;
}

function withoutId(part: ModelContent): ModelContent {
  return { ...part, toolCallId: "" } as ModelContent;
}

function toModel(text: string): Model {
  return promptTools(mockModel([text]));
}

function toCall(shown: readonly ModelMessage[]): ModelCall {
  const tools = caseTools.map(({ name, inputSchema }) => ({
    type: "function" as const,
    name,
    inputSchema: inputSchema as object,
  }));
  return { prompt: [{ role: "user", content: [{ type: "text", text: "Hello" }] }, ...shown], tools };
}
