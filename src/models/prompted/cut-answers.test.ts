import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { createAgent } from "../../agent/create-agent.ts";
import { mockModel, type MockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { FinishReason, Model, ModelContent, ModelPart } from "../model.ts";
import { tools as caseTools } from "../../../test/prompted-calls/case.ts";
import { parseToolCalls } from "./parse-tool-calls.ts";
import { promptTools } from "./prompt-tools.ts";

const half = "Action: search\nAction Input: cats and do";

const cuts: readonly (readonly [text: string, finishReason: FinishReason["unified"]])[] = [
  [half, "length"],
  [half, "content-filter"],
  [half, "error"],
  [`${half}gs\nand mi`, "length"],
  [`${half}gs\n`, "length"],
];

test.for(cuts)(
  "promptTools() makes no call of free text that was cut off, streamed or not: %j (%s)",
  async ([text, finishReason]) => {
    const wanted = [{ type: "tool-call", toolName: "search", input: text }];

    expect(await generate(text, finishReason)).toMatchObject({ content: wanted });
    expect(await streamCalls(text, finishReason)).toMatchObject(wanted);
  },
);

test.for([
  'Action: search\nAction Input: "cats"',
  "Action: search\nAction Input: `cats`",
  "Action: search\nAction Input: cats\nObservation: th",
  'Action: search\nAction Input: {"query": "cats"}',
  "Action: search[cats]",
])("promptTools() makes the call of an answer that was cut off behind it: %j", async (text) => {
  expect(await generate(text, "length")).toMatchObject({
    content: [{ type: "tool-call", toolName: "search", input: '{"query":"cats"}' }],
    finishReason: { unified: "tool-calls" },
  });
  expect(await streamCalls(text, "length")).toMatchObject([{ input: '{"query":"cats"}' }]);
});

test("promptTools() takes free text at the end of an answer that came to its end as it is", async () => {
  expect(await generate(half, "stop")).toMatchObject({ content: [{ input: '{"query":"cats and do"}' }] });
  expect(await streamCalls(half, "stop")).toMatchObject([{ input: '{"query":"cats and do"}' }]);
});

test("parseToolCalls() is told that a text was cut off", () => {
  const { calls, problems } = parseToolCalls(half, caseTools, { isCut: true });

  expect(calls).toEqual([]);
  expect(problems).toMatchObject([
    {
      kind: "cut-off",
      name: "search",
      message:
        'Cannot call "search": the answer ended inside the call, behind "Action Input: cats and do"; write the whole call again',
    },
  ]);
});

test.for([half, '<tool_call>{"name": "search", "arguments": {"query": "cats and do'])(
  "an agent runs nothing that was cut off, and asks for the whole call: %j",
  async (text) => {
    const ran: unknown[] = [];
    const search = defineTool({
      name: "search",
      description: "Searches",
      input: { type: "object", properties: { query: { type: "string" } } },
      run: (input) => ran.push(input),
    });
    const model = mockModel([{ text, finishReason: "length" }, "Done"]);

    const agent = createAgent({ model: promptTools(model), workspace: createWorkspace({ tools: [search] }) });
    const { status } = await agent.run("Search").result;

    expect({ status, ran }).toEqual({ status: "ok", ran: [] });
    expect(model.shown().conversation).toContain("the answer ended inside the call, behind");
    expect(model.shown().conversation).toContain("write the whole call again");
  },
);

function toModel(text: string, finishReason: FinishReason["unified"]): Model {
  const model: MockModel = mockModel([{ text, finishReason }]);
  return promptTools(model);
}

function toCall(): Parameters<Model["doGenerate"]>[0] {
  const tools = caseTools.map(({ name, inputSchema }) => ({
    type: "function" as const,
    name,
    inputSchema: inputSchema as object,
  }));
  return { prompt: [{ role: "user", content: [{ type: "text", text: "Hello" }] }], tools };
}

async function generate(text: string, finishReason: FinishReason["unified"]): Promise<unknown> {
  return toModel(text, finishReason).doGenerate(toCall());
}

async function streamCalls(text: string, finishReason: FinishReason["unified"]): Promise<readonly ModelContent[]> {
  const { stream } = await toModel(text, finishReason).doStream(toCall());
  const parts: ModelPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts.filter((part) => part.type === "tool-call");
}
