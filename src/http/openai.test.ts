import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import { expect, test } from "vitest";

import { createAgent } from "../agent/create-agent.ts";
import { defineTool } from "../core/define-tool.ts";
import { localCaller } from "../gate/access/token-check.ts";
import { mockModel } from "../testing/models/mock-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { createHandler, type Handler } from "./create-handler.ts";

const clients = {
  "chat completions": (handle: Handler) =>
    createOpenAICompatible({ name: "kitbag", baseURL: "http://localhost/api/v1", fetch: toFetch(handle) })("helper"),
  responses: (handle: Handler) =>
    createOpenAI({ baseURL: "http://localhost/api/v1", apiKey: "none", fetch: toFetch(handle) }).responses("helper"),
} as const;

test.for(["chat completions", "responses"] as const)("an agent answers a client of OpenAI's %s", async (kind) => {
  const model = clients[kind](open());

  const { text, finishReason, usage } = await generateText({ model, prompt: "Add 19 and 23" });

  expect([text, finishReason]).toEqual(["It is 42", "stop"]);
  expect(usage.outputTokens).toBeGreaterThan(0);
});

test.for(["chat completions", "responses"] as const)("an agent streams to a client of OpenAI's %s", async (kind) => {
  const model = clients[kind](open());

  const result = streamText({ model, messages: [{ role: "user", content: "Add 19 and 23" }] });
  const pieces: string[] = [];
  for await (const piece of result.textStream) pieces.push(piece);

  expect(pieces.join("")).toBe("It is 42");
  expect(await result.finishReason).toBe("stop");
});

test.for<[string, object, number, string]>([
  [
    "tools of the client",
    { model: "helper", messages: [{ role: "user", content: "x" }], tools: [{}] },
    422,
    "leave out tools",
  ],
  ["an unknown agent", { model: "helpr", messages: [{ role: "user", content: "x" }] }, 404, "did you mean helper"],
  [
    "a picture that is elsewhere",
    {
      model: "helper",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "http://10.0.0.1/" } }] }],
    },
    422,
    "data URLs",
  ],
  ["an unknown role", { model: "helper", messages: [{ role: "root", content: "x" }] }, 422, "role"],
])("openai.chat refuses %s", async ([, body, status, part]) => {
  const handle = open();

  const response = await handle(toRequest(body));

  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining(part) });
});

function open(): Handler {
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    run: ({ a, b }) => Number(a) + Number(b),
  });
  const workspace = createWorkspace({ tools: [add] });
  const model = mockModel([{ calls: [{ tool: "add", input: { a: 19, b: 23 } }] }, "It is 42"]);
  return createHandler(
    { workspace, agents: { helper: createAgent({ model, workspace }) } },
    { caller: () => localCaller },
  );
}

function toFetch(handle: Handler): typeof fetch {
  return async (url, init) => handle(new Request(url, init));
}

function toRequest(body: object): Request {
  return new Request("http://localhost/api/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
