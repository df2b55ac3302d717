import { setTimeout as sleep } from "node:timers/promises";

import type { Client } from "@modelcontextprotocol/client";
import { expect, test, vi } from "vitest";

import {
  clientKinds,
  connectHttp,
  connectStdio,
  listen,
  textOf,
  toolNames,
  type ClientKind,
} from "../../../test/support/mcp-clients.ts";
import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";

test.for(clientKinds)("createMcpServer() serves a %s client over HTTP, also tools that come and go", async (kind) => {
  const workspace = createWorkspace({ tools: [echo] });
  const { url } = await listen({ workspace });
  const changed = vi.fn<() => void>();
  const client = await connectHttp(url, { kind, onToolsChanged: changed });

  expect(textOf(await client.callTool({ name: "echo", arguments: { text: "hi" } }))).toBe("hi");
  expect(await toolNames(client)).toContain("echo");
  await untilListening(kind);

  workspace.add(defineTool({ name: "late", description: "Comes late", run: () => "here" }));
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1), soon);
  expect(await toolNames(client)).toContain("late");
  expect(textOf(await client.callTool({ name: "late", arguments: {} }))).toBe("here");
  expect(textOf(await client.callTool({ name: "call_tool", arguments: { name: "late" } }))).toBe("here");

  workspace.remove("late");
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(2), soon);
  expect(await toolNames(client)).not.toContain("late");
  await expect(client.callTool({ name: "late", arguments: {} })).rejects.toThrow(/Cannot find the tool "late"/u);
});

test.for(clientKinds)("createMcpServer() serves a %s client on stdio, also tools that come and go", async (kind) => {
  const changed = vi.fn<() => void>();
  const client = await connectStdio("mcp-stdio-program.ts", { kind, onToolsChanged: changed });

  expect(await toolNames(client)).toContain("make");
  await untilListening(kind);

  expect(textOf(await client.callTool({ name: "make", arguments: { name: "late" } }))).toBe("made");
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1), soon);
  expect(textOf(await client.callTool({ name: "late", arguments: {} }))).toBe("late");
  expect(textOf(await client.callTool({ name: "call_tool", arguments: { name: "late" } }))).toBe("late");

  await client.callTool({ name: "unmake", arguments: { name: "late" } });
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(2), soon);
  expect(await toolNames(client)).not.toContain("late");
});

test.for(clientKinds)("createMcpServer() cancels what a %s client on stdio cancels", async (kind) => {
  const client = await connectStdio("mcp-stdio-program.ts", { kind });
  const stop = new AbortController();
  // The program takes a while to start, and a client of 2026 does not wait for it.
  await client.listTools();

  const waiting = client.callTool({ name: "wait", arguments: {} }, ...callOptions(kind, stop.signal));
  await sleep(200);
  stop.abort();

  await expect(waiting).rejects.toThrow();
  await vi.waitFor(async () => {
    expect(textOf(await client.callTool({ name: "cancelled", arguments: {} }))).toBe("1");
  }, soon);
});

test.for(clientKinds)("createMcpServer() cancels what a %s client over HTTP cancels", async (kind) => {
  const { tool, began, ended } = createWaitTool();
  const { url } = await listen({ workspace: createWorkspace({ tools: [tool] }) });
  const client = await connectHttp(url, { kind });
  const stop = new AbortController();

  const waiting = client.callTool({ name: "wait", arguments: {} }, ...callOptions(kind, stop.signal));
  await began;
  stop.abort();

  await expect(waiting).rejects.toThrow();
  expect(await ended).toBe("cancelled");
});

test("createMcpServer() opens a skill for the session that the URL names, and for no other", async () => {
  const { url } = await listen({ workspace: createWorkspace({ skills: [pdf] }) });
  const [oneChanged, otherChanged] = [vi.fn<() => void>(), vi.fn<() => void>()];
  const one = await connectHttp(`${url}?session=one`, { onToolsChanged: oneChanged });
  const other = await connectHttp(`${url}?session=other`, { onToolsChanged: otherChanged });
  await untilListening("legacy");

  const opened = await one.callTool({ name: "activate_skill", arguments: { name: "pdf" } });

  expect(textOf(opened)).toContain("pdf__extract");
  await vi.waitFor(() => expect(oneChanged).toHaveBeenCalled(), soon);
  expect(await toolNames(one)).toContain("pdf__extract");
  expect(textOf(await one.callTool({ name: "pdf__extract", arguments: {} }))).toBe("text");
  expect(await toolNames(other)).not.toContain("pdf__extract");
  expect(otherChanged).not.toHaveBeenCalled();
  const refused = await other.callTool({ name: "pdf__extract", arguments: {} });
  expect(refused.isError).toBe(true);
  expect(textOf(refused)).toContain("pdf");

  await one.callTool({ name: "deactivate_skill", arguments: { name: "pdf" } });
  expect(await toolNames(one)).not.toContain("pdf__extract");
});

test("createMcpServer() serves many clients at once, each with its own answers", async () => {
  const { url, server } = await listen({ workspace: createWorkspace({ tools: [echo] }) });
  const clients = await Promise.all(
    Array.from({ length: 12 }, (_, index) => connectHttp(url, { kind: clientKinds[index % 4] as ClientKind })),
  );

  const answers = await Promise.all(
    clients.flatMap((client, index) =>
      Array.from({ length: 20 }, async (_, call) =>
        textOf(await client.callTool({ name: "echo", arguments: { text: `${index}/${call}` } })),
      ),
    ),
  );

  expect(answers).toEqual(clients.flatMap((_, index) => Array.from({ length: 20 }, (__, call) => `${index}/${call}`)));
  expect(server.sessions).toBe(6);
});

test("createMcpServer() tells a client what changed before it listened", async () => {
  const workspace = createWorkspace();
  const { url } = await listen({ workspace });
  const begun = await post(url, initialize());
  const session = begun.headers.get("mcp-session-id") ?? "";
  workspace.add(echo);
  await sleep(10);

  const stream = await fetch(url, { headers: { accept: "text/event-stream", "mcp-session-id": session } });

  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("tools/list_changed")) text += (await reader?.read())?.value ?? "";
  expect(text).toContain("notifications/tools/list_changed");
  await reader?.cancel();
});

/** Machines that do other things as well take their time. */
const soon = { timeout: 20_000 };

const echo = defineTool({
  name: "echo",
  description: "Answers with what it is given",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }) => text ?? null,
});

const pdf = defineSkill({
  name: "pdf",
  description: "Works with PDF files",
  workDirection: "Extract first.",
  tools: [defineTool({ name: "extract", description: "Extracts the text", run: () => "text" })],
});

function createWaitTool(): { tool: ReturnType<typeof defineTool>; began: Promise<void>; ended: Promise<string> } {
  const began = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  const tool = defineTool({
    name: "wait",
    description: "Waits until it is cancelled",
    run: (_input, { signal }) =>
      new Promise<string>((resolve) => {
        began.resolve();
        signal.addEventListener("abort", () => {
          ended.resolve("cancelled");
          resolve("cancelled");
        });
      }),
  });
  return { tool, began: began.promise, ended: ended.promise };
}

/** The stream on which a client hears of changes is opened after it is connected. */
function untilListening(kind: ClientKind): Promise<void> {
  return sleep(kind === "v1" ? 300 : 200);
}

/** The client of v1 takes a schema for the result before the options. */
function callOptions(
  kind: ClientKind,
  signal: AbortSignal,
): Parameters<Client["callTool"]> extends [unknown, ...infer Rest] ? Rest : never {
  return (kind === "v1" ? [undefined, { signal }] : [{ signal }]) as never;
}

function post(url: string, message: object): Promise<Response> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
}

function initialize(): object {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  return { jsonrpc: "2.0", id: 1, method: "initialize", params };
}
