import { expect, onTestFinished, test } from "vitest";

import { type LocalModel, startLocalServer } from "../../test/support/local-server.ts";
import { defineTool } from "../core/define-tool.ts";
import { resolveModel } from "../models/resolve/resolve-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { createAgent } from "./create-agent.ts";
import type { AgentEvent } from "./events.ts";

test("createAgent() tells that a server loads its model, and calls tools of a model that has none", async () => {
  const loading = Promise.withResolvers<void>();
  const state: LocalModel = { name: "old", context: 8192, tools: false, isLoaded: false, load: loading.promise };
  const server = await startLocalServer("ollama", [state], {
    script: ({ texts }) =>
      texts.at(-1)?.includes("tool_response") === true
        ? { text: "It is 42." }
        : { text: '<tool_call>{"name": "add", "arguments": {"a": 19, "b": 23}}</tool_call>' },
  });
  onTestFinished(server.close);
  const model = await resolveModel("ollama/old", { baseUrl: server.url, env: {} });
  const numbers = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } } as const;
  const add = defineTool({
    name: "add",
    description: "Adds",
    input: numbers,
    run: ({ a, b }) => Number(a) + Number(b),
  });
  const events: AgentEvent[] = [];

  const agent = createAgent({ model, workspace: createWorkspace({ tools: [add] }) });
  const { text } = await agent.run("19 + 23?", {
    onEvent(event) {
      events.push(event);
      if (event.type === "model-loading") loading.resolve();
    },
  }).result;

  expect(text).toBe("It is 42.");
  expect(events.find(({ type }) => type === "model-loading")).toMatchObject({ model: "ollama/old", step: 1 });
});

test("createAgent() keeps a conversation within what the server has in use", async () => {
  const server = await startLocalServer("llamacpp", [{ name: "qwen3", context: 3000, contextMax: 131_072 }]);
  onTestFinished(server.close);
  const model = await resolveModel("llamacpp/qwen3", { baseUrl: server.url, env: {} });
  const agent = createAgent({ model, workspace: createWorkspace() });
  const messages = Array.from({ length: 30 }, (_, index) => ({
    role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: [{ type: "text" as const, text: `${index} ${"word ".repeat(200)}` }],
  }));

  const { status, text } = await agent.run([
    ...messages,
    { role: "user", content: [{ type: "text", text: "And now?" }] },
  ]).result;

  expect([status, text]).toEqual(["ok", "Hello."]);
});
