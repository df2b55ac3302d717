/** Tools handed to frameworks and taken from them, with the frameworks' real packages. */
import { existsSync } from "node:fs";

import { expect, test, type TestContext } from "vitest";
import { fromLangChainTools, toLangChainTools, type LangChainToolMaker } from "../../src/adapters/to-langchain.ts";
import { fromMastraTools, toMastraTools } from "../../src/adapters/to-mastra.ts";
import { fromOpenAiAgentsTools, toOpenAiAgentsTools } from "../../src/adapters/to-openai-agents.ts";
import { defineTool } from "../../src/core/define-tool.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { clientsFolder, loadClient } from "./client-under-test.ts";

interface Message {
  readonly content: string;
  readonly artifact: unknown;
  readonly status?: string;
}

interface Invoked {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  invoke(input: object, config?: object): Promise<unknown>;
}

test("LangChain calls Kitbag's tools, and Kitbag calls LangChain's", async (context) => {
  needClients(context);
  const { tool } = await loadClient<{ tool: LangChainToolMaker<Invoked> }>("@langchain/core/dist/tools/index.js");
  const { toJsonSchema } = await loadClient<{ toJsonSchema: (schema: never) => unknown }>(
    "@langchain/core/dist/utils/json_schema.js",
  );
  const [add] = toLangChainTools(tool, openWorkspace());

  const call = { type: "tool_call", id: "1", name: "add", args: { a: 19, b: 23 } };
  const message = (await add?.invoke(call)) as Message;
  const wrong = (await add?.invoke({ ...call, args: { a: 19 } }).catch((cause: unknown) => cause)) as Message;
  const back = createWorkspace({ tools: fromLangChainTools(toJsonSchema, add === undefined ? [] : [add]) });

  expect([message.content, message.artifact]).toEqual(["42", { status: "ok", output: 42 }]);
  expect(JSON.stringify(wrong.content ?? String(wrong))).toMatch(/input|schema/u);
  expect(await back.call("add", { a: 1, b: 2 })).toMatchObject({ status: "ok", output: "3" });
  expect(await back.call("add", { a: "x" })).toMatchObject({ error: { code: "input-invalid" } });
});

test("OpenAI Agents calls Kitbag's tools, whose inputs Kitbag checks, and Kitbag calls its tools", async (context) => {
  needClients(context);
  const { tool, RunContext } = await loadClient<{
    tool: (fields: never) => {
      name: string;
      description: string;
      parameters: unknown;
      invoke(context: unknown, input: string): Promise<unknown>;
    };
    RunContext: new () => unknown;
  }>("@openai/agents/dist/index.mjs");
  const [add] = toOpenAiAgentsTools(tool, openWorkspace());
  const runContext = new RunContext();

  const sum = await add?.invoke(runContext, '{"a":19,"b":23}');
  const wrong = await add?.invoke(runContext, '{"a":"x","b":23}');
  const back = createWorkspace({ tools: fromOpenAiAgentsTools(add === undefined ? [] : [add], runContext) });

  expect(sum).toBe("42");
  expect(wrong).toContain("the input is wrong: a");
  expect(await back.call("add", { a: 1, b: 2 })).toMatchObject({ status: "ok", output: "3" });
});

test("Mastra calls Kitbag's tools, and Kitbag calls Mastra's", async (context) => {
  needClients(context);
  const { createTool } = await loadClient<{
    createTool: (fields: never) => {
      id: string;
      description: string;
      inputSchema: unknown;
      execute(input: unknown, context: unknown): Promise<unknown>;
    };
  }>("@mastra/core/dist/tools/index.js");
  const { add } = toMastraTools(createTool, openWorkspace());

  const sum = await add?.execute({ a: 19, b: 23 }, {});
  const schema = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
  const back = createWorkspace({ tools: fromMastraTools(add === undefined ? [] : [add], () => schema) });

  expect(sum).toBe(42);
  expect(await back.call("add", { a: 1, b: 2 })).toMatchObject({ status: "ok", output: 3 });
});

function openWorkspace(): Workspace {
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    run: ({ a, b }) => Number(a) + Number(b),
  });
  return createWorkspace({ tools: [add] });
}

function needClients({ skip }: TestContext): void {
  if (process.env["KITBAG_REQUIRE_ALL"] !== "1")
    skip(!existsSync(clientsFolder), "the packages of test/clients are not installed");
}
