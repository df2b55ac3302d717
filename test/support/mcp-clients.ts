import { createRequire } from "node:module";
import { join } from "node:path";

import { Client, StreamableHTTPClientTransport, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";

import type { GateOptions } from "../../src/gate/gate.ts";
import { openGate } from "../../src/gate/open-gate.ts";
import { createMcpServer } from "../../src/mcp/server/create-mcp-server.ts";
import type { McpServerOptions, McpServing } from "../../src/mcp/server/mcp-server-options.ts";

/** How a client of the official SDK speaks: v1, v2 as it is by default, v2 that finds out, v2 that wants 2026-07-28. */
export type ClientKind = "v1" | "legacy" | "auto" | "pinned";

/** All of them. */
export const clientKinds: readonly ClientKind[] = ["v1", "legacy", "auto", "pinned"];

/** A server that listens. */
export interface ListeningServer {
  readonly server: McpServing;
  /** Where MCP is spoken: `http://127.0.0.1:8000/mcp`. */
  readonly url: string;
}

/** Opens a server over HTTP that closes with the test. */
export async function listen(options: McpServerOptions, gate: Partial<GateOptions> = {}): Promise<ListeningServer> {
  const server = createMcpServer(options);
  const opened = await openGate({ ...gate, routes: [server.route()] });
  onTestFinished(async () => {
    await opened.close({ graceMs: 100 });
    await server.close();
  });
  return { server, url: `${opened.url}/mcp` };
}

/** What may be said when a client is connected. */
export interface ConnectOptions {
  readonly kind?: ClientKind;
  readonly name?: string;
  readonly token?: string;
  readonly capabilities?: NonNullable<ClientOptions["capabilities"]>;
  /** Called whenever the client hears that the list of tools changed. */
  readonly onToolsChanged?: () => void;
}

/** Connects a client over HTTP that closes with the test. */
export function connectHttp(url: string, options: ConnectOptions = {}): Promise<Client> {
  const init = options.token === undefined ? {} : { headers: { authorization: `Bearer ${options.token}` } };
  const { StreamableHTTPClientTransport: Transport } =
    options.kind === "v1" ? loadV1("client/streamableHttp.js") : { StreamableHTTPClientTransport };
  return connect(new Transport(new URL(url), { requestInit: init }), options);
}

/** Starts a program that serves on stdio, and connects a client that closes with the test. */
export function connectStdio(program: string, options: ConnectOptions = {}): Promise<Client> {
  const parameters = {
    command: process.execPath,
    args: ["--conditions=@kitbag/source", join(import.meta.dirname, program)],
    stderr: "inherit" as const,
  };
  const { StdioClientTransport: Transport } =
    options.kind === "v1" ? loadV1("client/stdio.js") : { StdioClientTransport };
  return connect(new Transport(parameters), options);
}

type Transport = Parameters<Client["connect"]>[0];

async function connect(transport: Transport, options: ConnectOptions): Promise<Client> {
  const { kind = "legacy", name = "test", capabilities = {}, onToolsChanged } = options;
  const negotiation = { v1: undefined, legacy: undefined, auto: "auto", pinned: { pin: "2026-07-28" } }[kind];
  const { Client: Made } = kind === "v1" ? loadV1("client/index.js") : { Client };
  const client = new Made(
    { name, version: "1.0.0" },
    {
      capabilities,
      ...(negotiation !== undefined && { versionNegotiation: { mode: negotiation as "auto" } }),
      ...(onToolsChanged !== undefined && {
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => onToolsChanged() } },
      }),
    },
  );
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

interface VersionOne {
  readonly Client: typeof Client;
  readonly StreamableHTTPClientTransport: typeof StreamableHTTPClientTransport;
  readonly StdioClientTransport: typeof StdioClientTransport;
}

/** The SDK before this one comes with the conformance suite. What the tests use of it has the same shape. */
function loadV1(path: string): VersionOne {
  const ours = createRequire(import.meta.url);
  const theirs = createRequire(ours.resolve("@modelcontextprotocol/conformance/package.json"));
  return theirs(`@modelcontextprotocol/sdk/${path}`) as VersionOne;
}

/** The text of an answer of `tools/call`. */
export function textOf(result: unknown): string {
  const { content } = result as { content: readonly { type: string; text?: string }[] };
  return content.map((block) => block.text ?? block.type).join("\n");
}

/** The names in the list of tools. */
export async function toolNames(client: Client): Promise<string[]> {
  const { tools } = await client.listTools();
  return tools.map((tool) => tool.name);
}
