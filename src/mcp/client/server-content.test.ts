import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import type { Client } from "@modelcontextprotocol/client";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test, vi } from "vitest";

import { connectHttp, listen } from "../../../test/support/mcp-clients.ts";
import { openMcp, programOf } from "../../../test/support/mcp-sources.ts";
import type { McpSource } from "../../core/mcp-source.ts";
import type { McpRuntime } from "../../runtimes/mcp/mcp-runtime.ts";
import type { McpShare } from "../../skills/trust/lock-format.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createServerContent } from "./server-content.ts";
import { toTools } from "./to-tools.ts";

vi.setConfig({ testTimeout: 60_000 });

const both: readonly McpShare[] = ["prompts", "resources"];

test.for(["legacy", "pinned"] as const)("a %s client lists and reads what a program serves", async (kind) => {
  const { url } = await serve([programOf("content-server.mjs")]);
  const client = await connectHttp(url, { kind });

  const listed = await listOwn(client);
  const { resourceTemplates } = await client.listResourceTemplates();
  const read = await Promise.all([
    client.readResource({ uri: "kitbag://servers/other/docs://notes/today" }),
    client.readResource({ uri: "kitbag://servers/other/docs://picture" }),
    client.readResource({ uri: "kitbag://servers/other/docs://pages/a%2Fb" }),
  ]);

  expect(listed).toMatchObject([
    {
      uri: "kitbag://servers/other/docs://notes/today",
      name: "other/notes",
      title: "Notes",
      description: "What is seen",
      mimeType: "text/plain",
    },
    { uri: "kitbag://servers/other/docs://picture", name: "other/picture" },
  ]);
  expect(resourceTemplates).toContainEqual({
    uriTemplate: "kitbag://servers/other/docs://pages/{page}",
    name: "other/page",
    description: "A page",
  });
  expect(read.flatMap(({ contents }) => contents)).toEqual([
    { uri: "kitbag://servers/other/docs://notes/today", mimeType: "text/plain", text: "Buy seen milk" },
    { uri: "kitbag://servers/other/docs://picture", mimeType: "image/png", blob: "aGk=" },
    { uri: "kitbag://servers/other/docs://pages/a%2Fb", text: "This is a%2Fb" },
  ]);
});

test.for(["legacy", "pinned"] as const)(
  "a %s client fills in a prompt, and its links stay at the server",
  async (kind) => {
    const { url } = await serve([programOf("content-server.mjs")]);
    const client = await connectHttp(url, { kind });

    const { prompts } = await client.listPrompts();
    const { messages } = await client.getPrompt({ name: "other/explain", arguments: { topic: "tea" } });

    expect(prompts).toEqual([
      { name: "other/explain", description: "Explains", arguments: [{ name: "topic", required: true }] },
    ]);
    expect(messages.map(({ content }) => content)).toEqual([
      { type: "text", text: "Explain teaseen" },
      { type: "resource_link", uri: "kitbag://servers/other/file:///etc/passwd", name: "more" },
    ]);
    await expect(client.getPrompt({ name: "other/missing" })).rejects.toThrow("Prompt not found: other/missing");
    await expect(client.getPrompt({ name: "explain" })).rejects.toThrow("Prompt not found: explain");
  },
);

test("a server over HTTP is read by the same rules", async () => {
  const { url } = await serve([{ name: "far", url: await listenUpstream() }]);
  const client = await connectHttp(url);

  expect(await listOwn(client)).toMatchObject([{ uri: "kitbag://servers/far/far://a", name: "far/a" }]);
  const { contents } = await client.readResource({ uri: "kitbag://servers/far/far://a" });
  expect(contents).toEqual([{ uri: "kitbag://servers/far/far://a", text: "from afar" }]);
});

test("a hostile server gains nothing with the URIs of others", async () => {
  const { url, notices } = await serve([programOf("content-server.mjs", ["hostile"])]);
  const client = await connectHttp(url);
  const read = async (uri: string): Promise<unknown> => (await client.readResource({ uri })).contents;

  const listed = await listOwn(client);
  const { contents } = await client.readResource({ uri: "kitbag://guide" });

  const uris = listed.map(({ uri }) => uri).filter((uri) => !uri.includes("many"));
  expect(uris).toEqual([
    "kitbag://servers/other/file:///etc/passwd",
    "kitbag://servers/other/kitbag://guide",
    "kitbag://servers/other/kitbag://servers/other/docs://x",
    "kitbag://servers/other/skill://kitbag/pdf/SKILL.md",
  ]);
  expect(listed.length).toBeLessThanOrEqual(1000);
  expect(Math.max(...listed.map(({ name }) => name.length))).toBeLessThan(140);
  expect(contents).toMatchObject([{ text: expect.stringContaining("# Kitbag") as string }]);
  expect(await read(uris[0] as string)).toEqual([
    { uri: "kitbag://servers/other/kitbag://guide", text: "theirs: file:///etc/passwd" },
  ]);
  expect(notices.filter((notice) => notice.includes("cannot be passed on"))).toHaveLength(4);
  expect(notices.join("\n")).toContain("only 1000 of a list are read");
});

test.for([
  ["file:///etc/passwd", "Resource not found"],
  ["docs://notes/today", "Resource not found"],
  ["kitbag://servers/unknown/docs://notes/today", "Resource not found"],
  ["kitbag://servers/other", "Resource not found"],
  ["kitbag://servers/other/", "Resource not found"],
  ["kitbag://servers/other/docs://a/../../b", "Resource not found"],
  ["kitbag://servers/other/docs://a/%2e%2E/b", "Resource not found"],
  ["kitbag://servers/other/docs://x\u200b", "Resource not found"],
  ["kitbag://servers/other/docs://huge", "more than 8388608 bytes"],
  ["kitbag://servers/other/docs://nothing", 'Cannot use the MCP server "other"'],
] as const)("%s is refused", async ([uri, reason]) => {
  const { url } = await serve([programOf("content-server.mjs", ["hostile"])]);
  const client = await connectHttp(url);

  await expect(client.readResource({ uri })).rejects.toThrow(reason);
});

test("nothing is listed or read of a server whose content was not agreed to", async () => {
  const { url, isOpened } = await serve([programOf("content-server.mjs")], { shares: [] });
  const client = await connectHttp(url);

  expect(await listOwn(client)).toEqual([]);
  expect((await client.listPrompts()).prompts).toEqual([]);
  const read = client.readResource({ uri: "kitbag://servers/other/docs://picture" });
  await expect(read).rejects.toThrow("Resource not found");
  expect(isOpened()).toBe(false);
});

test("a caller without a scope for the server sees and reads nothing of it", async () => {
  const { url } = await serve([programOf("content-server.mjs")], {
    tokens: {
      "wide-token-wide-token-wide-token": ["tools:of:other"],
      "else-token-else-token-else-token": ["tools:of:pdf"],
    },
  });
  const wide = await connectHttp(url, { token: "wide-token-wide-token-wide-token" });
  const other = await connectHttp(url, { token: "else-token-else-token-else-token" });

  expect(await listOwn(wide)).toHaveLength(2);
  expect(await listOwn(other)).toEqual([]);
  const read = other.readResource({ uri: "kitbag://servers/other/docs://picture" });
  await expect(read).rejects.toThrow("Resource not found");
  await expect(other.getPrompt({ name: "other/explain", arguments: { topic: "x" } })).rejects.toThrow("not found");
});

test("a client hears that a server has another resource", async () => {
  const { url, runtime, source } = await serve([programOf("content-server.mjs")]);
  const client = await connectHttp(url);
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler("notifications/resources/list_changed", () => resolve());
  });
  expect(await listOwn(client)).toHaveLength(2);

  const { definitions } = await runtime.connect(source);
  const { tools } = toTools(source, definitions.tools.values());
  const workspace = createWorkspace({ runtimes: [runtime], components: [{ name: "other", tools }] });
  await workspace.call("other/grow", {});
  await changed;

  expect((await listOwn(client)).map(({ uri }) => uri)).toContain("kitbag://servers/other/docs://late");
});

test.for(["legacy", "pinned"] as const)("a %s client reads what a tool of a server links to", async (kind) => {
  const { url } = await serve([programOf("content-server.mjs")], { hasTools: true });
  const client = await connectHttp(url, { kind });

  const direct = await client.callTool({ name: "other__link", arguments: {} });
  const through = await client.callTool({ name: "call_tool", arguments: { name: "other/link", input: {} } });

  expect(direct.content).toEqual([
    { type: "resource_link", uri: "kitbag://servers/other/docs://picture", name: "picture" },
    { type: "resource", resource: { uri: "kitbag://servers/other/kitbag://guide", text: "not Kitbag's" } },
  ]);
  expect(through.content).toEqual(direct.content);
  const { contents } = await client.readResource({ uri: "kitbag://servers/other/docs://picture" });
  expect(contents).toMatchObject([{ blob: "aGk=" }]);
});

test("a server that cannot be reached does not keep a client from listing the others", async () => {
  const dead = { ...programOf("content-server.mjs"), name: "dead", args: ["/nowhere.mjs"] };
  const { url, notices } = await serve([dead, programOf("content-server.mjs")]);
  const client = await connectHttp(url);

  expect((await listOwn(client)).map(({ name }) => name)).toEqual(["other/notes", "other/picture"]);
  expect(notices.join("\n")).toContain("dead: Cannot list its resources");
});

test("a server that takes long does not keep a list waiting, and its part is told when it comes", async () => {
  const answer = Promise.withResolvers<never>();
  const content = createServerContent([{ name: "slow", url: "https://example.com/mcp" }], {
    findPins: () => ({ tools: new Map(), skills: new Map(), shares: both }),
    openMcp: async () => ({ use: async () => answer.promise, onEvent: () => () => {} }),
    onNotice: () => {},
    patienceMs: 20,
  });
  const changed = Promise.withResolvers<void>();
  content.onChange({ resourcesChanged: () => changed.resolve(), promptsChanged: () => {} });
  const caller = { id: "local", scopes: "all" } as const;

  const first = await content.resources.list?.(caller);
  answer.resolve({ items: [{ uri: "slow://a", name: "a" }], refused: [] } as never);
  await changed.promise;

  expect(first).toEqual([]);
  expect(await content.resources.list?.(caller)).toEqual([{ uri: "kitbag://servers/slow/slow://a", name: "slow/a" }]);
});

test("a client is refused a subscription that would never tell it anything", async () => {
  const { url } = await serve([programOf("content-server.mjs")]);
  const client = await connectHttp(url);

  const subscribing = client.subscribeResource({ uri: "kitbag://servers/other/docs://picture" });
  await expect(subscribing).rejects.toThrow("Cannot subscribe to a resource of another MCP server");
});

interface Serving {
  readonly url: string;
  readonly runtime: McpRuntime;
  readonly source: McpSource;
  readonly notices: readonly string[];
  isOpened(): boolean;
}

interface ServeOptions {
  readonly shares?: readonly McpShare[];
  readonly tokens?: Record<string, readonly string[]>;
  readonly hasTools?: boolean;
}

async function serve(
  sources: readonly McpSource[],
  { shares = both, tokens, hasTools = false }: ServeOptions = {},
): Promise<Serving> {
  const { runtime, open } = openMcp();
  const workspace = hasTools ? await open(sources[0] as McpSource) : createWorkspace();
  const notices: string[] = [];
  let opened = false;
  const content = createServerContent(sources, {
    findPins: () => ({ tools: new Map(), skills: new Map(), shares }),
    openMcp() {
      opened = true;
      return Promise.resolve(runtime);
    },
    onNotice: ({ server, message }) => notices.push(`${server}: ${message}`),
  });
  const { server, url } = await listen(
    { workspace, resources: [content.resources], prompts: [content.prompts] },
    tokens === undefined
      ? {}
      : { tokens: Object.entries(tokens).map(([token, scopes]) => ({ id: token.slice(0, 4), token, scopes })) },
  );
  onTestFinished(content.onChange(server.notify));
  return { url, runtime, source: sources[0] as McpSource, notices, isOpened: () => opened };
}

async function listOwn(client: Client): Promise<readonly { readonly uri: string; readonly name: string }[]> {
  const found: { readonly uri: string; readonly name: string }[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources(cursor === undefined ? {} : { cursor }, { cacheMode: "bypass" });
    found.push(...page.resources.filter(({ uri }) => uri.startsWith("kitbag://servers/")));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

async function listenUpstream(): Promise<string> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "far", version: "1.0.0" });
    server.registerResource("a", "far://a", {}, ({ href }) => ({ contents: [{ uri: href, text: "from afar" }] }));
    return server;
  });
  const http = createServer((request, response) => void toNodeHandler(handler)(request as never, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await handler.close();
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}
