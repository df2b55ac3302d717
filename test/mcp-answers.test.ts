import { PassThrough } from "node:stream";

import {
  Client,
  StreamableHTTPClientTransport,
  type ClientOptions,
  type Transport,
} from "@modelcontextprotocol/client";
import { inputRequired, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../src/core/define-skill.ts";
import { defineTool } from "../src/core/define-tool.ts";
import { KitbagError } from "../src/core/errors.ts";
import { injected, type Tool } from "../src/core/tool.ts";
import type { McpClientAccess } from "../src/mcp/server/calls/ask-client.ts";
import type { McpGeneration } from "../src/mcp/server/client.ts";
import { createMcpServer } from "../src/mcp/server/create-mcp-server.ts";
import { memoryStore } from "../src/store/memory-store.ts";
import { createWorkspace } from "../src/workspace/create-workspace.ts";
import { listen } from "./support/mcp-clients.ts";

/** A way to a tool: where, which generation of the protocol, and whether plain requests may be answered without the SDK. */
interface Way {
  readonly over: "stdio" | "http";
  readonly generation: McpGeneration;
  readonly envelope: "plain" | "sdk";
}

const ways: readonly Way[] = (["stdio", "http"] as const).flatMap((over) =>
  (["2025", "2026"] as const).flatMap((generation) =>
    (["plain", "sdk"] as const).map((envelope) => ({ over, generation, envelope })),
  ),
);

interface Case {
  readonly name: string;
  readonly arguments?: unknown;
  /** What the client can be asked. @default nothing */
  readonly capabilities?: NonNullable<ClientOptions["capabilities"]>;
  /** Whether the client follows the progress. */
  readonly progress?: true;
  /** Whether the client cancels the call as soon as its tool has begun. */
  readonly cancel?: true;
  /** A part of what comes back, by generation where they differ. */
  readonly expected: unknown;
  readonly expected2026?: unknown;
}

const text = (value: unknown): object => ({ result: { content: [{ type: "text", text: value }] } });
const failure = (message: string): object => ({
  result: { isError: true, content: [{ type: "text", text: expect.stringContaining(message) as unknown }] },
});
const invalid = (message: string): object => ({ error: { code: -32_602, message: expect.stringContaining(message) } });

const cases: Readonly<Record<string, Case>> = {
  ok: { name: "echo", arguments: { text: "hi" }, expected: text("hi") },
  "ok, through call_tool": {
    name: "call_tool",
    arguments: { name: "echo", input: { text: "hi" } },
    expected: { result: { content: [{ type: "text", text: "hi" }] } },
  },
  "a failure": { name: "fail", expected: failure("no") },
  "an unknown tool": { name: "missing", expected: invalid('"missing"') },
  "a tool of a closed skill": {
    name: "shut__shut_tool",
    expected: failure("open skill"),
  },
  "input that does not fit": { name: "echo", arguments: { text: {} }, expected: failure("text") },
  "parameters that are wrong": { name: "echo", arguments: [] as unknown, expected: invalid("") },
  "progress and logs": {
    name: "steps",
    progress: true,
    expected: { ...text("done"), progress: [1, 2] },
  },
  "logs of a client that follows no progress": { name: "steps", expected: text("done") },
  "a cancelled call": { name: "wait", cancel: true, expected: { cancelled: true, stopped: true } },
  sampling: { name: "ask_model", capabilities: { sampling: {} }, expected: text("the model says hello") },
  "sampling without a model": {
    name: "ask_model",
    expected: failure("it does not say that it can do sampling"),
    expected2026: { error: { code: -32_021 } },
  },
  elicitation: { name: "ask_person", capabilities: { elicitation: {} }, expected: text("blue") },
  "elicitation without a person": {
    name: "ask_person",
    expected: failure("it does not say that it can do elicitation"),
    expected2026: { error: { code: -32_021 } },
  },
  "an approval": { name: "risky", capabilities: { elicitation: {} }, expected: text("dared") },
  "an approval without a person": { name: "risky", expected: failure("it needs an approval") },
  "nested sampling": { name: "outer", capabilities: { sampling: {} }, expected: text("the model says hello") },
  "nested sampling without a model": { name: "outer", expected: text("a text without a model") },
  "a large output": {
    name: "large",
    expected: {
      result: { content: [{ type: "text" }, { type: "resource_link", name: expect.stringMatching(/^output /u) }] },
    },
  },
  "structured output": { name: "structured", expected: { result: { structuredContent: { list: [1, null] } } } },
  "an image": {
    name: "image",
    expected: { result: { content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] } },
  },
  "resource links": {
    name: "links",
    expected: { result: { content: [{ type: "resource_link", uri: "https://example.com/a", name: "a" }] } },
  },
};

test.for(Object.entries(cases))("tools/call answers the same every way: %s", async ([, given]) => {
  const answers = await Promise.all(ways.map(async (way) => ({ way, answer: await ask(way, given) })));

  for (const { way, answer } of answers) {
    const expected = way.generation === "2026" ? (given.expected2026 ?? given.expected) : given.expected;
    expect({ way, answer }).toMatchObject({ way, answer: expected });
    // Whole answers are the same, also in what no case names.
    const first = answers.find((other) => given.expected2026 === undefined || other.way.generation === way.generation);
    expect({ way, answer }).toEqual({ way, answer: first?.answer });
  }
});

/** What came of a call, without what differs by generation alone. */
interface Answer {
  readonly result?: object;
  readonly error?: { readonly code: unknown; readonly message: unknown };
  readonly progress: readonly number[];
  readonly cancelled?: boolean;
  readonly stopped?: boolean;
}

async function ask(way: Way, given: Case): Promise<Answer> {
  const { tools, begun, stopped } = createTools();
  const client = await connect(way, tools, given);
  const progress: number[] = [];
  const stop = new AbortController();
  if (given.cancel) void begun.then(() => stop.abort(new Error("enough")));
  const params = { name: given.name, arguments: (given.arguments ?? {}) as Record<string, unknown> };
  const calling = client.callTool(params, {
    signal: stop.signal,
    ...(given.progress && { onprogress: (step) => void progress.push(step.progress) }),
  });
  try {
    const { _meta, ...result } = (await calling) as Record<string, unknown>;
    return { result: hideHandles(result), progress };
  } catch (cause) {
    if (given.cancel) return { cancelled: true, stopped: await stopped, progress };
    const { code, message } = cause as { readonly code: unknown; readonly message: unknown };
    return { error: { code, message }, progress };
  }
}

/** The handle of a large output has the id of its call. */
function hideHandles(result: object): object {
  return JSON.parse(JSON.stringify(result).replaceAll(/(?<=output |outputs\/)[^"]+/gu, "…")) as object;
}

async function connect({ over, generation, envelope }: Way, tools: readonly Tool[], given: Case): Promise<Client> {
  const shut = defineSkill({
    name: "shut",
    description: "Is not open",
    workDirection: "Open it first",
    tools: [defineTool({ name: "shut_tool", description: "Is shut", run: () => 1 })],
  });
  const store = memoryStore();
  const workspace = createWorkspace({ tools: [...tools], skills: [shut], store, limits: { maxOutputBytes: 1000 } });
  // A host that adds methods of its own leaves every request to the SDK.
  const options = { workspace, ...(envelope === "sdk" && { extend: () => {} }) };
  const mode = generation === "2025" ? "legacy" : { pin: "2026-07-28" };
  const { capabilities = {} } = given;
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities, versionNegotiation: { mode } });
  if (capabilities.sampling !== undefined) {
    client.setRequestHandler("sampling/createMessage", () => ({
      model: "test",
      role: "assistant",
      content: { type: "text", text: "the model says hello" },
    }));
  }
  if (capabilities.elicitation !== undefined) {
    client.setRequestHandler("elicitation/create", () => ({
      action: "accept",
      content: given.name === "risky" ? { approve: true } : { color: "blue" },
    }));
  }
  onTestFinished(() => client.close());
  if (over === "http") {
    const { url } = await listen(options);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  }
  const server = createMcpServer(options);
  const [input, output] = [new PassThrough(), new PassThrough()];
  await server.serveStdio({ input, output });
  onTestFinished(() => server.close());
  await client.connect(createPipe(input, output));
  return client;
}

/** A client's end of a server on stdio in the same process. */
function createPipe(input: PassThrough, output: PassThrough): Transport {
  let rest = "";
  const transport: Transport = {
    async start() {
      output.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
      });
    },
    async send(message) {
      input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      input.end();
      transport.onclose?.();
    },
  };
  return transport;
}

interface Tools {
  readonly tools: readonly Tool[];
  /** Resolves when the tool `wait` runs. */
  readonly begun: Promise<void>;
  /** Resolves with `true` when its signal is aborted. */
  readonly stopped: Promise<boolean>;
}

function createTools(): Tools {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<boolean>();
  const wait = defineTool({
    name: "wait",
    description: "Waits until it is cancelled",
    async run(_input, { signal }) {
      begin();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      stop(true);
      throw new Error("stopped");
    },
  });
  return { tools: [...simpleTools, ...askingTools, wait], begun, stopped };
}

const textInput = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

const simpleTools: readonly Tool[] = [
  defineTool({ name: "echo", description: "Echoes", input: textInput, run: (input) => input["text"] }),
  defineTool({
    name: "fail",
    description: "Fails",
    run() {
      throw new Error("no");
    },
  }),
  defineTool({
    name: "steps",
    description: "Goes in steps",
    run(_input, { log, progress }) {
      log("begun");
      progress({ done: 1, total: 2 });
      progress({ done: 2, total: 2 });
      return "done";
    },
  }),
  defineTool({ name: "large", description: "Gives much", run: () => "x".repeat(200_000) }),
  defineTool({
    name: "structured",
    description: "Gives an object",
    output: { type: "object", properties: { list: { type: "array" } } },
    run: () => ({ list: [1, null] }),
  }),
  defineTool({
    name: "image",
    description: "Gives a picture",
    run: () => ({ $content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }),
  }),
  defineTool({
    name: "links",
    description: "Gives links",
    run: () => ({ $content: [{ type: "resource_link", uri: "https://example.com/a", name: "a" }] }),
  }),
  defineTool({ name: "risky", description: "Needs an approval", needsApproval: true, run: () => "dared" }),
];

const question = inputRequired.createMessage({
  messages: [{ role: "user", content: { type: "text", text: "say hello" } }],
  maxTokens: 10,
});
const form = inputRequired.elicit({
  message: "Which color?",
  requestedSchema: { type: "object", properties: { color: { type: "string" } }, required: ["color"] },
});

const askingTools: readonly Tool[] = [
  defineTool({
    name: "ask_model",
    description: "Asks the model of the client",
    inject: { mcp: injected<McpClientAccess>() },
    async run(_input, { injected: { mcp } }) {
      const { said } = await mcp.ask({ said: question });
      return (said?.["content"] as { readonly text: string } | undefined)?.text;
    },
  }),
  defineTool({
    name: "ask_person",
    description: "Asks the person at the client",
    inject: { mcp: injected<McpClientAccess>() },
    async run(_input, { injected: { mcp } }) {
      const { color } = await mcp.ask({ color: form });
      return (color?.["content"] as { readonly color: string } | undefined)?.color;
    },
  }),
  defineTool({
    name: "inner",
    description: "Writes with the model of the client, or without",
    inject: { sampling: injected<McpClientAccess>() },
    async run(_input, { injected: { sampling } }) {
      if (!sampling.can("sampling")) return "a text without a model";
      const { said } = await sampling.ask({ said: question });
      return (said?.["content"] as { readonly text: string } | undefined)?.text;
    },
  }),
  defineTool({
    name: "outer",
    description: "Calls another tool",
    async run(_input, { call }) {
      const outcome = await call("inner");
      if (outcome.status === "failed") throw new KitbagError(outcome.error.code, outcome.error.details);
      return outcome.output;
    },
  }),
];
