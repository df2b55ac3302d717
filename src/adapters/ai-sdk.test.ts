import { asSchema, dynamicTool, generateText, isStepCount, jsonSchema, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";

import { defineSkill } from "../core/define-skill.ts";
import { defineTool } from "../core/define-tool.ts";
import { mockModel } from "../testing/models/mock-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { fromAiSdkTools, toAiSdkTools } from "./to-ai-sdk.ts";

const parts = { dynamicTool, jsonSchema };

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  run: ({ a, b }) => Number(a) + Number(b),
});

test("toAiSdkTools() gives generateText() tools whose calls go through the workspace", async () => {
  const workspace = createWorkspace({ tools: [add] });
  const model = mockModel([{ calls: [{ tool: "add", input: { a: "19", b: 23 } }] }, "It is 42"]);

  const { text, steps } = await generateText({
    model,
    tools: toAiSdkTools(parts, workspace),
    prompt: "Add 19 and 23",
    stopWhen: isStepCount(3),
  });

  expect(text).toBe("It is 42");
  expect(steps[0]?.toolResults).toMatchObject([{ toolName: "add", output: 42 }]);
  expect(workspace.stats().total.calls).toBe(1);
});

test("toAiSdkTools() tells the model why a call failed", async () => {
  const model = mockModel([{ calls: [{ tool: "add", input: { a: 1 } }] }, "I need both"]);

  const { steps } = await generateText({
    model,
    tools: toAiSdkTools(parts, createWorkspace({ tools: [add] })),
    prompt: "Add",
    stopWhen: isStepCount(3),
  });

  expect(JSON.stringify(steps[0]?.content)).toContain('Cannot call \\"add\\": the input is wrong: b');
});

test("toAiSdkTools() with skills lets a model open a skill and call its tools through call_tool", async () => {
  const pages = defineTool({ name: "pages", description: "Counts pages", run: () => 3 });
  const skills = [defineSkill({ name: "pdf", description: "Works with PDF files", tools: [pages] })];
  const session = createWorkspace({ skills }).openSession();
  const model = mockModel([
    { calls: [{ tool: "activate_skill", input: { name: "pdf" } }] },
    { calls: [{ tool: "call_tool", input: { name: "pdf/pages" } }] },
    "3 pages",
  ]);

  const { steps } = await generateText({
    model,
    tools: toAiSdkTools(parts, session, { skills: session }),
    prompt: "How many pages?",
    stopWhen: isStepCount(4),
  });

  expect(steps[1]?.toolResults).toMatchObject([{ output: 3 }]);
});

test("toAiSdkTools() hands over schemas that the framework may change", () => {
  const tools = toAiSdkTools(
    { dynamicTool: (made) => made, jsonSchema: (schema) => schema },
    createWorkspace({ tools: [add] }),
  );

  const { inputSchema = {} } = tools["add"] ?? {};
  Object.assign(inputSchema, { additionalProperties: true });

  expect(add.inputSchema["additionalProperties"]).not.toBe(true);
});

test("fromAiSdkTools() makes tools whose inputs are checked, also those that stream", async () => {
  const shout = tool({
    description: "Says it loudly",
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }) => text.toUpperCase(),
  });
  const count = tool({
    description: "Counts",
    inputSchema: z.object({}),
    async *execute() {
      yield 1;
      yield 2;
    },
  });
  const workspace = createWorkspace({ tools: await fromAiSdkTools({ asSchema }, { shout, count }) });

  expect(await workspace.call("shout", { text: "hi" })).toMatchObject({ status: "ok", output: "HI" });
  expect(await workspace.call("count")).toMatchObject({ status: "ok", output: 2 });
  expect(await workspace.call("shout", { text: {} })).toMatchObject({ error: { code: "input-invalid" } });
});

test("fromAiSdkTools() refuses a tool that runs elsewhere", async () => {
  const elsewhere = tool({ description: "In the page", inputSchema: z.object({}) });

  await expect(fromAiSdkTools({ asSchema }, { elsewhere })).rejects.toMatchObject({ code: "tool-invalid" });
});
