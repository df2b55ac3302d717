import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { PassThrough } from "node:stream";

import { expect, onTestFinished, test, vi } from "vitest";

import { initialize } from "../../../../test/support/mcp-raw.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { createMcpServer } from "../create-mcp-server.ts";
import type { McpServerOptions, StdioServing } from "../mcp-server-options.ts";

test("serveStdio() says what is wrong with a line, and goes on", async () => {
  const { send, next } = await serve();
  send(JSON.stringify(initialize()));
  await next();

  send("{");
  send("");
  const answers: unknown[] = [];
  for (const line of ["null", "[]", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":3,"method":"no/such"}']) {
    send(line);
    answers.push(await next());
  }
  send('{"jsonrpc":"2.0","id":4,"method":"ping"}');

  expect(answers).toMatchObject([
    { id: null, error: { code: -32_600 } },
    { id: null, error: { code: -32_600 } },
    { id: null, error: { code: -32_600 } },
    { id: 3, error: { code: -32_601 } },
  ]);
  expect(await next()).toEqual({ jsonrpc: "2.0", id: 4, result: {} });
});

test("serveStdio() cancels what runs when its client goes away, and closes the client's session", async () => {
  const [began, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    run: (_input, { signal }) =>
      new Promise<null>((resolve) => {
        began.resolve();
        signal.addEventListener("abort", () => {
          ended.resolve("cancelled");
          resolve(null);
        });
      }),
  });
  const { send, next, end, serving } = await serve({ workspace: createWorkspace({ tools: [wait] }) });
  send(JSON.stringify(initialize()));
  await next();
  send('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}');

  await began.promise;
  end();

  expect(await ended.promise).toBe("cancelled");
  await serving.closed;
});

test("serveStdio() gives the instructions, with one line about skills", async () => {
  const { send, next } = await serve({ workspace: createWorkspace(), instructions: "Ask before you delete." });

  send(JSON.stringify(initialize()));
  const { result } = (await next()) as { result: { instructions: string; serverInfo: object; capabilities: object } };

  expect(result.instructions.split("\n")).toEqual([
    expect.stringMatching(/search_tools.*activate_skill/u),
    expect.stringContaining("call_tool"),
    "Ask before you delete.",
  ]);
  expect(result.instructions.length).toBeLessThan(400);
  expect(result.serverInfo).toMatchObject({ name: "kitbag" });
  expect(Object.keys(result.capabilities).toSorted()).toEqual([
    "completions",
    "extensions",
    "logging",
    "prompts",
    "resources",
    "tools",
  ]);
});

test("createMcpServer() lets a host add what it does not have, and tell of it", async () => {
  const extend = vi.fn<NonNullable<McpServerOptions["extend"]>>((mcp) => {
    mcp.server.setRequestHandler("ping", () => ({ _meta: { own: true } }));
  });
  const { send, next, server } = await serve({ workspace: createWorkspace(), extend });
  send(JSON.stringify(initialize()));
  await next();

  send('{"jsonrpc":"2.0","id":2,"method":"ping"}');
  expect(await next()).toMatchObject({ result: { _meta: { own: true } } });
  server.notify.promptsChanged();
  expect(await next()).toMatchObject({ method: "notifications/prompts/list_changed" });
  server.notify.toolsChanged();
  expect(await next()).toMatchObject({ method: "notifications/tools/list_changed" });
  server.notify.resourcesChanged();
  expect(await next()).toMatchObject({ method: "notifications/resources/list_changed" });
  expect(extend).toHaveBeenCalledTimes(1);
});

test("createMcpServer() refuses limits that are none", () => {
  const create = (limits: object): unknown => createMcpServer({ workspace: createWorkspace(), limits });

  expect(() => create({ maxSessions: 0 })).toThrow(/limits.maxSessions/u);
  expect(() => create({ idleMs: Number.NaN })).toThrow(/limits.idleMs/u);
  expect(() => create({ maxSession: 3 })).toThrow(/maxSessions/u);
});

interface Served {
  readonly server: ReturnType<typeof createMcpServer>;
  readonly serving: StdioServing;
  send(line: string): void;
  end(): void;
  next(): Promise<unknown>;
}

async function serve(options: McpServerOptions = { workspace: createWorkspace() }): Promise<Served> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = createMcpServer(options);
  const serving = await server.serveStdio({ input, output });
  const lines = createInterface({ input: output });
  const waiting = collect(lines);
  onTestFinished(() => server.close());
  return {
    server,
    serving,
    send: (line) => void input.write(`${line}\n`),
    end: () => void input.end(),
    async next() {
      while (waiting.length === 0) await once(lines, "line");
      return JSON.parse(String(waiting.shift())) as unknown;
    },
  };
}

function collect(lines: Interface): string[] {
  const all: string[] = [];
  lines.on("line", (line) => void all.push(line));
  return all;
}
