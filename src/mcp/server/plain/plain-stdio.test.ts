import { PassThrough } from "node:stream";

import { expect, onTestFinished, test, vi } from "vitest";

import { defineTool } from "../../../core/define-tool.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import type { Workspace } from "../../../workspace/workspace.ts";
import { createMcpServer } from "../create-mcp-server.ts";
import type { McpGeneration } from "../client.ts";

const generations: readonly McpGeneration[] = ["2025", "2026"];

test.for(generations)("plain requests on stdio are answered as the SDK answers them, in %s", async (generation) => {
  const workspace = toWorkspace();
  const plain = await start(workspace, generation);
  const sdk = await start(workspace, generation, { extend: () => {} });

  for (const [method, params] of requests) {
    const request = toMessage(method, params, generation);
    const [own, other] = await Promise.all([plain.ask(request), sdk.ask(request)]);

    expect([method, params, own]).toEqual([method, params, other]);
  }
});

test("a plain call on stdio is cancelled and not answered when the client says so", async () => {
  const { ask, say, answers } = await start(toWorkspace(), "2025");
  const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "wait", arguments: {} } };
  say(call);
  await vi.waitFor(() => expect(waiting.size).toBe(1));

  say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
  await vi.waitFor(() => expect(waiting.size).toBe(0));
  await ask(toMessage("tools/call", { name: "echo", arguments: { text: "hi" } }, "2025"));

  expect(answers().some(({ id }) => id === 7)).toBe(false);
});

test("plain calls on stdio are cancelled when the client is gone", async () => {
  const { say, input } = await start(toWorkspace(), "2025");
  say({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "wait" } });
  await vi.waitFor(() => expect(waiting.size).toBe(1));

  input.end();

  await vi.waitFor(() => expect(waiting.size).toBe(0));
});

test("what a tool logs reaches a 2025 client before the answer of a plain call", async () => {
  const { ask, answers } = await start(toWorkspace(), "2025");

  await ask(toMessage("tools/call", { name: "talk", arguments: {} }, "2025"));

  expect(answers().slice(-2)).toMatchObject([
    { method: "notifications/message", params: { level: "info", data: "I say" } },
    { result: { content: [{ text: "done" }] } },
  ]);
});

test("lines on stdio are told apart wherever the chunks end, and however long they are", async () => {
  const { input, answers } = await start(toWorkspace(), "2025");
  const long = "x".repeat(1_200_000);
  const lines = ["hi", long, "ä€😀", "last"].map((text, index) =>
    JSON.stringify({
      jsonrpc: "2.0",
      id: 100 + index,
      method: "tools/call",
      params: { name: "length", arguments: { text } },
    }),
  );
  const bytes = Buffer.from(`${lines.join("\n")}\r\n`);

  for (let start = 0; start < bytes.length; start += 70_001) input.write(bytes.subarray(start, start + 70_001));

  await vi.waitFor(() => expect(answers().filter(({ id }) => Number(id) >= 100)).toHaveLength(4), { timeout: 20_000 });
  const texts = answers()
    .filter(({ id }) => Number(id) >= 100)
    .toSorted((one, other) => Number(one.id) - Number(other.id))
    .map(({ result }) => (result as { content: { text: string }[] }).content[0]?.text);
  expect(texts).toEqual(["2", "1200000", "4", "4"]);
});

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: unknown;
}

interface Started {
  readonly input: PassThrough;
  say(message: object): void;
  /** Says it, and waits for the answer. */
  ask(message: object): Promise<Message>;
  answers(): readonly Message[];
}

async function start(
  workspace: Workspace,
  generation: McpGeneration,
  more: { readonly extend?: () => void } = {},
): Promise<Started> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = createMcpServer({ workspace, ...more });
  const serving = await server.serveStdio({ input, output });
  onTestFinished(async () => {
    await serving.close();
    await server.close();
  });
  const all: Message[] = [];
  let rest = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    all.push(...lines.map((line) => JSON.parse(line) as Message));
  });
  let count = 0;
  const say = (message: object): void => void input.write(`${JSON.stringify(message)}\n`);
  const ask = async (message: object): Promise<Message> => {
    count += 1;
    const id = `q${count}`;
    say({ ...message, id });
    await vi.waitFor(() => expect(all.some((one) => one.id === id)).toBe(true), { timeout: 20_000, interval: 5 });
    return all.find((one) => one.id === id) ?? {};
  };
  if (generation === "2025") {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } };
    await ask({ jsonrpc: "2.0", method: "initialize", params });
    say({ jsonrpc: "2.0", method: "notifications/initialized" });
  } else await ask(toMessage("server/discover", {}, generation));
  return { input, say, ask, answers: () => all };
}

const metaKey = "io.modelcontextprotocol/";

function toMessage(method: string, params: object, generation: McpGeneration): object {
  const meta = {
    [`${metaKey}protocolVersion`]: "2026-07-28",
    [`${metaKey}clientCapabilities`]: {},
    [`${metaKey}clientInfo`]: { name: "test", version: "1.0.0" },
  };
  return { jsonrpc: "2.0", method, params: generation === "2025" ? params : { ...params, _meta: meta } };
}

const requests: readonly (readonly [method: string, params: object])[] = [
  ["tools/list", {}],
  ["tools/call", { name: "echo", arguments: { text: "hi" } }],
  ["tools/call", { name: "echo", arguments: { text: "“€” \u2028" } }],
  ["tools/call", { name: "echo", arguments: { txet: "hi" } }],
  ["tools/call", { name: "echo", arguments: [] }],
  ["tools/call", { name: "count" }],
  ["tools/call", { name: "fail" }],
  ["tools/call", { name: "missing" }],
  ["tools/call", { name: "risky" }],
  ["tools/call", { name: "call_tool", arguments: { name: "echo", input: { text: "hi" } } }],
  ["tools/call", { name: "call_tool", arguments: { name: "count" } }],
  ["tools/call", {}],
  ["tools/list", { cursor: "x" }],
  ["tools/other", {}],
];

const waiting = new Set<object>();

function toWorkspace(): Workspace {
  const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  return createWorkspace({
    tools: [
      defineTool({ name: "echo", description: "Echoes", input, run: ({ text }) => text }),
      defineTool({ name: "length", description: "Counts characters", input, run: ({ text }) => String(text).length }),
      defineTool({ name: "count", description: "Counts", output: { type: "integer" }, run: () => 3 }),
      defineTool({
        name: "fail",
        description: "Fails",
        run() {
          throw new Error("no");
        },
      }),
      defineTool({ name: "risky", description: "Needs a yes", needsApproval: true, run: () => 1 }),
      defineTool({
        name: "talk",
        description: "Says something",
        run(_input, { log }) {
          log("I say");
          return "done";
        },
      }),
      defineTool({
        name: "wait",
        description: "Waits until it is stopped",
        run: (_input, { signal }) =>
          new Promise<never>((_resolve, reject) => {
            waiting.add(signal);
            signal.addEventListener("abort", () => {
              waiting.delete(signal);
              reject(new Error("stopped"));
            });
          }),
      }),
    ],
  });
}
