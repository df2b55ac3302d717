import type { Client } from "@modelcontextprotocol/client";
import { expect, test, vi } from "vitest";

import { connectHttp, listen, textOf } from "../../../test/support/mcp-clients.ts";
import { openMcp, programOf } from "../../../test/support/mcp-sources.ts";

vi.setConfig({ testTimeout: 60_000 });

const capabilities = { elicitation: { form: {} }, sampling: {} };

test.for(["legacy", "pinned"] as const)("a %s client is asked what a server asks, and by whom", async (kind) => {
  const { client, asked } = await connect("asking-server.mjs", { kind });

  const chosen = textOf(await client.callTool({ name: "other__choose", arguments: {} }));

  expect(JSON.parse(chosen)).toEqual({ action: "accept", content: { colour: "red" } });
  expect(asked).toMatchObject([
    {
      message: "The MCP server other (tool choose) asks:\n\nWhich colour?",
      requestedSchema: { properties: { colour: { enum: ["red", "blue"] } } },
    },
  ]);
});

test.for(["legacy", "pinned"] as const)(
  "a server on the first SDK asks a %s client while its call runs",
  async (kind) => {
    const { client, asked } = await connect("v1-server.mjs", { kind, content: { sure: true } });

    const result = textOf(await client.callTool({ name: "other__ask", arguments: {} }));

    expect(JSON.parse(result)).toEqual({ action: "accept", content: { sure: true } });
    expect(asked).toMatchObject([{ message: "The MCP server other (tool ask) asks:\n\nReally?" }]);
  },
);

test.for(["legacy", "pinned"] as const)(
  "the model of a %s client writes for a server, without other context",
  async (kind) => {
    const { client, asked } = await connect("asking-server.mjs", { kind });

    const said = textOf(await client.callTool({ name: "other__think", arguments: {} }));

    expect(JSON.parse(said)).toMatchObject({ content: { type: "text", text: "hi" } });
    expect(asked).toMatchObject([
      { systemPrompt: "The MCP server other (tool think) asks:\n\nBe short", maxTokens: 10 },
    ]);
    expect(asked[0]).not.toHaveProperty("includeContext");
  },
);

test.for([
  ["login", "must not ask for a secret"],
  ["trick", "must not ask for a secret"],
  ["nested", "not a simple one"],
  ["page", "do not declare the required capability"],
  ["armed", "do not declare the required capability"],
  ["endless", "one call may ask 10 times"],
] as const)("%s is not put to a person: %s", async ([tool, reason]) => {
  const { client, asked } = await connect("asking-server.mjs", { kind: "legacy" });

  const result = await client.callTool({ name: `other__${tool}`, arguments: {} });

  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain(reason);
  expect(asked).toHaveLength(tool === "endless" ? 10 : 0);
});

test.for([
  ["asking-server.mjs", "choose", "elicitation"],
  ["v1-server.mjs", "ask", "elicitation"],
  ["asking-server.mjs", "think", "sampling"],
] as const)("a question of %s ends with a cause where the caller cannot be asked", async ([file, tool, what]) => {
  const { open } = openMcp();
  const workspace = await open(programOf(file));

  const outcome = await workspace.call(`other/${tool}`, {});

  expect(outcome).toMatchObject({
    status: "failed",
    error: {
      code: "tool-failed",
      details: { reason: expect.stringContaining(`the caller cannot be asked (${what})`) as string },
    },
  });
});

test("a client that says no is heard by the server", async () => {
  const { client } = await connect("asking-server.mjs", { kind: "legacy", action: "decline" });

  expect(JSON.parse(textOf(await client.callTool({ name: "other__choose", arguments: {} })))).toEqual({
    action: "decline",
  });
});

test("a question that may belong to either of two callers is put to neither", async () => {
  const { open, runtime } = openMcp();
  const source = programOf("v1-server.mjs");
  const workspace = await open(source);
  const { questions } = await runtime.connect(source);
  let asked = 0;
  const mcp = { can: () => true, ask: async () => ({ question: { action: `accepted ${(asked += 1)}` } }) };

  const outcome = await questions.during({}, async () => workspace.call("other/ask", {}, { injected: { mcp } }));

  expect(JSON.stringify(outcome)).toContain("not known which one this belongs to");
  expect(asked).toBe(0);
});

const string = { type: "string" };

test.for([
  [{ method: "elicitation/create", params: { mode: "url", message: "Open", url: "https://example.com" } }, "no pages"],
  [
    { method: "elicitation/create", params: { message: "Hi", requestedSchema: { properties: { a: { $ref: "#" } } } } },
    "simple",
  ],
  [
    {
      method: "elicitation/create",
      params: {
        message: "Hi",
        requestedSchema: { properties: Object.fromEntries([...Array(17).keys()].map((n) => [n, string])) },
      },
    },
    "may have 16 fields",
  ],
  [{ method: "elicitation/create", params: { message: "x".repeat(300_000), requestedSchema: {} } }, "too large"],
  [{ method: "elicitation/create", params: { requestedSchema: {} } }, "no message"],
  [{ method: "sampling/createMessage", params: { messages: [], maxTokens: 1, tools: [] } }, "no tools"],
  [{ method: "sampling/createMessage", params: { maxTokens: 1 } }, "no messages"],
  [{ method: "roots/list", params: {} }, "only elicitation and sampling"],
  [{ method: "__proto__", params: {} }, "only elicitation and sampling"],
  [null, "not a question of MCP"],
] as const)("%j is not asked", async ([question, reason]) => {
  const { open, runtime } = openMcp();
  const source = programOf("asking-server.mjs");
  await open(source);
  const { questions } = await runtime.connect(source);
  const ask = vi.fn(async () => ({ action: "accept" }));

  const answering = questions.answer(question, { tool: "x", caller: { can: () => true, ask } });

  await expect(answering).rejects.toThrow(reason);
  expect(ask).not.toHaveBeenCalled();
});

test("each of two calls of a server of 2026 gets its own answer", async () => {
  const { url } = await serve("asking-server.mjs");
  const [red, blue] = await Promise.all(
    ["red", "blue"].map(async (colour) => connectTo(url, { kind: "pinned", content: { colour } })),
  );

  const answers = await Promise.all(
    [red, blue].map(async (one) => textOf(await one?.client.callTool({ name: "other__choose", arguments: {} }))),
  );

  expect(answers.map((answer) => (JSON.parse(answer) as { content: unknown }).content)).toEqual([
    { colour: "red" },
    { colour: "blue" },
  ]);
});

test("the time of a call does not run while its caller thinks", async () => {
  const { open } = openMcp();
  const workspace = await open(programOf("asking-server.mjs"));
  // Started before, because that takes a part of the time.
  await workspace.call("other/login", {});
  const mcp = {
    can: () => true,
    ask: async () => {
      await new Promise((resolve) => setTimeout(resolve, 2500));
      return { question: { action: "cancel" } };
    },
  };

  const outcome = await workspace.call("other/choose", {}, { injected: { mcp }, limitMs: 2000 });

  expect(outcome).toEqual({ status: "ok", output: '{"action":"cancel"}' });
});

interface Answering {
  readonly kind: "legacy" | "pinned";
  readonly action?: "accept" | "decline";
  readonly content?: Record<string, string | boolean>;
}

async function serve(file: string): Promise<{ readonly url: string }> {
  const workspace = await openMcp().open(programOf(file));
  return listen({ workspace });
}

async function connect(file: string, answering: Answering): Promise<Connected> {
  return connectTo((await serve(file)).url, answering);
}

interface Connected {
  readonly client: Client;
  readonly asked: readonly object[];
}

async function connectTo(
  url: string,
  { kind, action = "accept", content = { colour: "red" } }: Answering,
): Promise<Connected> {
  const asked: object[] = [];
  const client = await connectHttp(url, { kind, capabilities });
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push(params);
    return action === "accept" ? { action, content } : { action };
  });
  client.setRequestHandler("sampling/createMessage", ({ params }) => {
    asked.push(params);
    return { model: "test", role: "assistant" as const, content: { type: "text" as const, text: "hi" } };
  });
  return { client, asked };
}
