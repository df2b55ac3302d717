import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { inputRequired } from "@modelcontextprotocol/server";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect, test, vi } from "vitest";

import { connectHttp, listen, textOf, type ClientKind } from "../../../../test/support/mcp-clients.ts";
import { post2026, readAnswer } from "../../../../test/support/mcp-raw.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { CallEvent } from "../../../core/events.ts";
import { progress, injected, type Tool } from "../../../core/tool.ts";
import { createImportTool } from "../../../forge/import/create-import-tool.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import type { WorkspaceOptions } from "../../../workspace/workspace.ts";
import type { McpClientAccess } from "./ask-client.ts";

const generations: readonly ClientKind[] = ["legacy", "pinned"];
const soon = { timeout: 20_000 };

test.for(generations)("tools/call asks the person at a %s client before a tool runs that needs it", async (kind) => {
  const { wipe, runs } = createWipe();
  const { client, questions, answer } = await connectPerson(kind, [wipe]);

  answer({ action: "accept", content: { approve: true } });
  const allowed = await client.callTool({ name: "wipe", arguments: { disk: "a" } });
  answer({ action: "accept", content: { approve: false, reason: "not that one" } });
  const denied = await client.callTool({ name: "wipe", arguments: { disk: "b" } });
  answer({ action: "decline" });
  const declined = await client.callTool({ name: "call_tool", arguments: { name: "wipe", input: { disk: "c" } } });

  expect(textOf(allowed)).toBe("wiped a");
  expect([denied.isError, textOf(denied)]).toEqual([true, expect.stringContaining("not that one")]);
  expect([declined.isError, textOf(declined)]).toEqual([true, expect.stringContaining("said no")]);
  expect(runs).toEqual(["a"]);
  expect(questions[0]).toContain('"disk": "a"');
});

test.for(generations)("tools/call fails with a cure if a %s client cannot ask its person", async (kind) => {
  const { wipe, runs } = createWipe();
  const { url } = await listen({ workspace: createWorkspace({ tools: [wipe] }) });
  const client = await connectHttp(url, { kind });

  const refused = await client.callTool({ name: "wipe", arguments: { disk: "a" } });

  expect(refused.isError).toBe(true);
  expect(textOf(refused)).toBe(
    'Cannot call "wipe": it needs an approval, and this client cannot ask its person\n→ Call it from a client that can (elicitation), or have a person run it where Kitbag runs: kitbag call wipe',
  );
  expect(runs).toEqual([]);
});

test("tools/call says how a person imports what a client without one cannot", async () => {
  const { url } = await listen({ workspace: createWorkspace({ tools: [createImportTool()] }) });
  const client = await connectHttp(url);

  const refused = await client.callTool({ name: "import", arguments: { source: "owner/repo" } });

  expect(textOf(refused)).toMatch(/kitbag add <source>$/u);
});

test.for(generations)("tools/call leaves the decision to the workspace if it has somebody (%s)", async (kind) => {
  const { wipe, runs } = createWipe();
  const options = { approve: () => ({ decision: "deny" as const, reason: "the operator said no" }) };
  const { client, questions, answer } = await connectPerson(kind, [wipe], options);

  answer({ action: "accept", content: { approve: true } });
  const refused = await client.callTool({ name: "wipe", arguments: { disk: "a" } });

  expect(textOf(refused)).toContain("the operator said no");
  expect([runs, questions]).toEqual([[], []]);
});

test.for(generations)("tools/call asks a %s client for what the model left out, if it is simple", async (kind) => {
  const { client, questions, answer } = await connectPerson(kind, [greet]);

  answer({ action: "accept", content: { name: "Ada", times: 2 } });
  const filled = await client.callTool({ name: "greet", arguments: {} });
  answer({ action: "decline" });
  const refused = await client.callTool({ name: "greet", arguments: { name: "Ada" } });

  expect(textOf(filled)).toBe("Hello Ada, Hello Ada");
  expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining("times")]);
  expect(questions).toHaveLength(2);
});

test.for(generations)("tools/call lets a tool ask a %s client, more than once", async (kind) => {
  const { client, answer } = await connectPerson(kind, [ask]);

  answer({ action: "accept", content: { word: "one" } }, { action: "accept", content: { word: "two" } });
  const result = await client.callTool({ name: "ask", arguments: {} });

  expect(textOf(result)).toBe("one two");
});

test("tools/call goes on only for the caller, the tool and the input that it began with, and once", async () => {
  const tokens = [
    { id: "one", token: "token-of-one-1234567890" },
    { id: "two", token: "token-of-two-1234567890" },
  ];
  const { wipe, runs } = createWipe();
  const { url } = await listen({ workspace: createWorkspace({ tools: [wipe] }) }, { tokens });
  const call = async (token: string | undefined, params: object): Promise<Record<string, unknown>> => {
    const _meta = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    const headers = { authorization: `Bearer ${token}` };
    return readAnswer(await post2026(url, "tools/call", { ...params, _meta }, { headers }));
  };
  const [one, two] = tokens.map(({ token }) => token);
  const params = { name: "wipe", arguments: { disk: "a" } };
  const begun = (await call(one, params)) as { result: { requestState: string } };
  const yes = { approval: { action: "accept", content: { approve: true } } };
  const state = { requestState: begun.result.requestState, inputResponses: yes };

  const other = await call(two, { ...params, ...state });
  const changed = await call(one, { ...params, ...state, arguments: { disk: "b" } });
  const forged = await call(one, { ...params, ...state, requestState: `${state.requestState}x` });
  const early = await call(one, { ...params, inputResponses: yes });
  expect(runs).toEqual([]);
  const right = await call(one, { ...params, ...state });
  const again = await call(one, { ...params, ...state });

  for (const refused of [other, changed, forged, again]) expect(refused).toMatchObject({ error: { code: -32_602 } });
  expect(early).toMatchObject({ result: { resultType: "input_required" } });
  expect(right).toMatchObject({ result: { content: [{ text: "wiped a" }] } });
  expect(runs).toEqual(["a"]);
});

test("tools/call asks nobody about an input that is too deep to wait with", async () => {
  const { url } = await listen({ workspace: createWorkspace({ tools: [greet] }) });
  const deep = `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`;
  const _meta = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
  const params = { name: "greet", arguments: { deep: "HERE" }, _meta };

  const answer = await post2026(url, "tools/call", params, { edit: (body) => body.replace('"HERE"', deep) });
  const fine = await post2026(url, "tools/call", { name: "greet", arguments: { name: "Ada", times: 1 } });

  expect(await readAnswer(answer)).toMatchObject({ error: { code: expect.any(Number) as number } });
  expect(await readAnswer(fine)).toMatchObject({ result: { content: [{ text: "Hello Ada" }] } });
});

test("tools/call tells a client of 2026 which capability a tool needs", async () => {
  const { url } = await listen({ workspace: createWorkspace({ tools: [ask] }) });

  const answer = await post2026(url, "tools/call", { name: "ask", arguments: {} });

  expect(answer.status).toBe(400);
  expect(await readAnswer(answer)).toMatchObject({
    error: { code: -32_021, data: { requiredCapabilities: { elicitation: {} } } },
  });
});

test.for(generations)("tools/call tells a %s client how far a call is, and what came so far", async (kind) => {
  const { url } = await listen({ workspace: createWorkspace({ tools: [count] }) });
  const client = await connectHttp(url, { kind });
  const seen: { readonly progress: number }[] = [];

  const result = await client.callTool({ name: "count", arguments: {} }, { onprogress: (one) => void seen.push(one) });

  expect(textOf(result)).toBe("3");
  expect(seen).toMatchObject([
    { progress: 0, total: 3, message: "begin" },
    { progress: 1e-6, total: 3, message: "one" },
    { progress: 2, total: 3 },
    { message: '{"two":2}' },
  ]);
  expect(seen.map((one) => one.progress)).toEqual(seen.map((one) => one.progress).toSorted((a, b) => a - b));
});

test("tools/call sends logs to a client of 2025, from the level that it asks for", async () => {
  const { url } = await listen({ workspace: createWorkspace({ tools: [count] }) });
  const client = await connectHttp(url, { capabilities: {} });
  const logs: unknown[] = [];
  client.setNotificationHandler("notifications/message", ({ params }) => void logs.push(params.data));

  await client.callTool({ name: "count", arguments: {} });
  expect(logs).toEqual([{ message: "counting", data: { to: 3 } }]);
  await client.request({ method: "logging/setLevel", params: { level: "error" } });
  await client.callTool({ name: "count", arguments: {} });

  expect(logs).toHaveLength(1);
});

test("tools/call says who asked, and in which trace", async () => {
  const tracerProvider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })],
  });
  const workspace = createWorkspace({ tools: [greet], telemetry: { tracerProvider } });
  const events: CallEvent[] = [];
  workspace.onEvent((event) => void events.push(event));
  const token = "token-of-somebody-12345";
  const { url } = await listen({ workspace }, { tokens: [{ id: "somebody", token }] });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  await post2026(
    url,
    "tools/call",
    { name: "greet", arguments: { name: "Ada", times: 1 }, _meta: { traceparent } },
    { headers: { authorization: `Bearer ${token}` } },
  );

  const trace = "0af7651916cd43dd8448eb211c80319c";
  expect(events[0]).toMatchObject({ type: "call-start", tool: "greet", user: "somebody", trace });
});

test("tools/call goes on with the trace of its HTTP headers, in both generations, unless its message names another", async () => {
  const tracerProvider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })],
  });
  const workspace = createWorkspace({ tools: [greet], telemetry: { tracerProvider } });
  const traces: unknown[] = [];
  workspace.onEvent((event) => void (event.type === "call-start" && traces.push(event.trace)));
  const { url } = await listen({ workspace });
  const [ofHeader, ofMessage] = ["0af7651916cd43dd8448eb211c80319c", "1bf7651916cd43dd8448eb211c80319c"];
  const [header, message] = [ofHeader, ofMessage].map((trace) => `00-${trace}-b7ad6b7169203331-01`);
  const headers = { traceparent: header ?? "" };
  const params = { name: "greet", arguments: { name: "Ada", times: 1 } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const old = new Client({ name: "old", version: "1.0.0" });
  await old.connect(transport);

  await post2026(url, "tools/call", params, { headers });
  await post2026(url, "tools/call", { ...params, _meta: { progressToken: 1 } }, { headers });
  await post2026(url, "tools/call", { ...params, _meta: { traceparent: message } }, { headers });
  await old.callTool(params);
  await old.close();
  await post2026(url, "tools/call", params, { headers: { traceparent: "00-zz-1" } });

  expect(traces.slice(0, 4)).toEqual([ofHeader, ofHeader, ofMessage, ofHeader]);
  expect(traces[4]).toMatch(/^[0-9a-f]{32}$/u);
  expect(traces[4]).not.toBe(ofHeader);
});

test("tools/call shows the head of an output that is too large, and where the rest is", async () => {
  const large = defineTool({ name: "large", description: "Gives much", run: () => "x".repeat(100_000) });
  const typed = defineTool({
    name: "typed",
    description: "Gives much, and says what",
    output: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: () => ({ text: "x".repeat(100_000) }),
  });
  const workspace = createWorkspace({ tools: [large, typed], limits: { maxOutputBytes: 1000 } });
  const { url } = await listen({ workspace });
  const client = await connectHttp(url);

  const head = await client.callTool({ name: "large", arguments: {} });
  const error = await client.callTool({ name: "typed", arguments: {} });

  const [, link] = head.content as { type: string; uri: string }[];
  expect(head.isError).toBeUndefined();
  expect(link).toMatchObject({ type: "resource_link", uri: expect.stringMatching(/^kitbag:\/\/outputs\//u) as string });
  const read = await client.readResource({ uri: link?.uri ?? "" });
  expect(JSON.stringify(read)).toContain("xxxxx");
  expect(error.isError).toBe(true);
});

test("tools/call says why it failed if a client of 2025 cannot answer what it says that it can", async () => {
  const { wipe, runs } = createWipe();
  const { url } = await listen({ workspace: createWorkspace({ tools: [greet, wipe] }) });
  // It declares forms, and has nothing that shows them.
  const client = await connectHttp(url, { capabilities: { elicitation: { form: {} } } });

  const lacking = await client.callTool({ name: "greet", arguments: {} });
  const unapproved = await client.callTool({ name: "wipe", arguments: { disk: "a" } });

  expect(lacking.isError).toBe(true);
  expect(textOf(lacking)).toContain("name: expected a string, found nothing");
  expect(unapproved.isError).toBe(true);
  expect(textOf(unapproved)).toContain("the client did not answer the question");
  expect(runs).toEqual([]);
});

test("tools/call ends a call that waits for a person when its client of 2025 is gone", async () => {
  const { wipe, runs } = createWipe();
  const { url, server } = await listen({ workspace: createWorkspace({ tools: [wipe] }) });
  const client = await connectHttp(url, { capabilities: { elicitation: {} } });
  const asked = Promise.withResolvers<void>();
  client.setRequestHandler("elicitation/create", () => {
    asked.resolve();
    return new Promise(() => {});
  });
  const waiting = client.callTool({ name: "wipe", arguments: { disk: "a" } });
  waiting.catch(() => {});

  await asked.promise;
  await client.close();
  await server.close();

  await vi.waitFor(() => expect(server.sessions).toBe(0), soon);
  expect(runs).toEqual([]);
});

const greet = defineTool({
  name: "greet",
  description: "Greets",
  input: {
    type: "object",
    properties: { name: { type: "string" }, times: { type: "integer", minimum: 1 } },
    required: ["name", "times"],
  },
  run: ({ name, times }) => Array.from({ length: Number(times) }, () => `Hello ${String(name)}`).join(", "),
});

const wordForm = {
  type: "object" as const,
  properties: { word: { type: "string" as const } },
  required: ["word"],
};

const ask = defineTool({
  name: "ask",
  description: "Asks twice",
  inject: { mcp: injected<McpClientAccess>() },
  async run(_input, { injected: { mcp } }) {
    const words: string[] = [];
    for (const message of ["First?", "Second?"]) {
      const { word } = await mcp.ask({ word: inputRequired.elicit({ message, requestedSchema: wordForm }) });
      const given = word?.["content"] as { readonly word: string } | undefined;
      words.push(given?.word ?? "nothing");
    }
    return words.join(" ");
  },
});

const count = defineTool({
  name: "count",
  description: "Counts to three",
  async *run(_input, { log }) {
    log("counting", { to: 3 });
    yield progress({ done: 0, total: 3, message: "begin" });
    yield "one";
    yield progress({ done: 2 });
    yield { two: 2 };
    return 3;
  },
});

function createWipe(): { wipe: Tool; runs: string[] } {
  const runs: string[] = [];
  const wipe = defineTool({
    name: "wipe",
    description: "Wipes a disk",
    input: { type: "object", properties: { disk: { type: "string" } }, required: ["disk"] },
    needsApproval: true,
    run({ disk }) {
      runs.push(String(disk));
      return `wiped ${String(disk)}`;
    },
  });
  return { wipe, runs };
}

interface Person {
  readonly client: Awaited<ReturnType<typeof connectHttp>>;
  /** What the person was asked. */
  readonly questions: string[];
  /** What they will answer, in this order. */
  answer(...answers: object[]): void;
}

async function connectPerson(
  kind: ClientKind,
  tools: readonly Tool[],
  options: WorkspaceOptions = {},
): Promise<Person> {
  const { url } = await listen({ workspace: createWorkspace({ ...options, tools }) });
  const client = await connectHttp(url, { kind, capabilities: { elicitation: { form: {} } } });
  const questions: string[] = [];
  let waiting: object[] = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    questions.push(params.message);
    return waiting.shift() as { action: "accept" };
  });
  return {
    client,
    questions,
    answer(...answers) {
      waiting = answers;
    },
  };
}
