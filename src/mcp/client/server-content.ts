import type { PromptMessage } from "@modelcontextprotocol/server";

import { describeCause } from "../../core/errors.ts";
import { contentKey, type McpSource, toSourceKey } from "../../core/mcp-source.ts";
import { mayCallTool } from "../../core/scopes.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Caller } from "../../gate/gate.ts";
import { type McpConnection, toMcpFailure } from "../../runtimes/mcp/connect-server.ts";
import type { McpRuntime } from "../../runtimes/mcp/mcp-runtime.ts";
import {
  fillServed,
  isServedUri,
  listServed,
  readServed,
  type ServedList,
  type ServedPrompt,
  type ServedResource,
} from "../../runtimes/mcp/served-content.ts";
import type { McpShare } from "../../skills/trust/lock-format.ts";
import type { McpPromptSource, McpResourceSource } from "../server/client.ts";
import type { McpNotifier } from "../server/mcp-server-options.ts";
import { linkToServer, serversRoot, toServerUri } from "../server/resources/kitbag-uri.ts";
import { toContentBlocks } from "../server/tools/to-call-result.ts";
import type { AddMcpServersOptions } from "./add-mcp-servers.ts";

/** How the content of servers is found. */
export interface ServerContentOptions extends Pick<AddMcpServersOptions, "findPins" | "onNotice"> {
  readonly openMcp: () => Promise<Pick<McpRuntime, "use" | "onEvent">>;
  /** How long a list waits for one server; what comes later is told as a change. @default 10 seconds */
  readonly patienceMs?: number;
}

/** What MCP clients of Kitbag can read of other servers. */
export interface McpServerContent {
  readonly resources: McpResourceSource;
  readonly prompts: McpPromptSource;
  /** Tells of changes of both lists until the returned function is called. */
  onChange(listener: Pick<McpNotifier, "promptsChanged" | "resourcesChanged">): () => void;
}

/** What is asked for: the lists of servers. */
interface Lists {
  resources: ServedList<ServedResource>;
  resourceTemplates: ServedList<ServedResource>;
  prompts: ServedList<ServedPrompt>;
}

type ListKind = keyof Lists;
type Lister<Kind extends ListKind> = (connection: McpConnection, signal: AbortSignal) => Promise<Lists[Kind]>;

/** What a caller needs the scope of: reading gives no more than a tool of the server that only reads. */
const reading = { name: "resources", annotations: { readOnly: true } };

const answerMs = 60_000;
const longestValue = 65_536;
const mostValues = 50;

/**
 * Makes what MCP clients can read of other servers: resources and templates behind `kitbag://servers/<server>/`, and prompts as
 * `<server>/<prompt>`. Only of servers whose resources or prompts a person agreed to, and only for callers who may call a reading tool of
 * the server. A server is started when a client asks for a list, or for something of it.
 */
export function createServerContent(sources: readonly McpSource[], options: ServerContentOptions): McpServerContent {
  const listeners = new Set<Listener>();
  const servers = createSharedServers(sources, options, (share) => {
    for (const listener of listeners) {
      if (share === "prompts") listener.promptsChanged();
      else listener.resourcesChanged();
    }
  });
  return {
    resources: toResourceSource(servers),
    prompts: toPromptSource(servers),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

type Listener = Pick<McpNotifier, "promptsChanged" | "resourcesChanged">;

/** Servers of which something may be read. */
interface SharedServers {
  /** Those of which this caller may read this. */
  find(share: McpShare, caller: Caller): readonly McpSource[];
  /** One list of all of these, each item with its server. A server that takes long does not keep the others waiting. */
  list<Kind extends ListKind>(kind: Kind, caller: Caller): Promise<readonly Owned<Lists[Kind]>[]>;
  use<Result>(
    source: McpSource,
    signal: AbortSignal,
    work: (connection: McpConnection, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>;
}

function createSharedServers(
  sources: readonly McpSource[],
  { findPins, openMcp, onNotice, patienceMs = 10_000 }: ServerContentOptions,
  onChange: (share: McpShare) => void,
): SharedServers {
  const known = createKeptLists();
  let opened: ReturnType<typeof openMcp> | undefined;

  async function open(): ReturnType<typeof openMcp> {
    const runtime = await openMcp();
    runtime.onEvent((event) => {
      const key = toSourceKey(event.source);
      if (event.type !== "content" || !sources.some((source) => toSourceKey(source) === key)) return;
      known.forget(key);
      onChange(event.what);
    });
    return runtime;
  }

  const use: SharedServers["use"] = async (source, signal, work) => {
    opened ??= open();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
    return (await opened).use(source, (connection) => work(connection, limit), limit);
  };

  const find: SharedServers["find"] = (share, caller) =>
    sources.filter(({ name }) => findPins(name)?.shares?.includes(share) === true && mayRead(caller, name));

  async function ask<Kind extends ListKind>(source: McpSource, kind: Kind): Promise<Lists[Kind]["items"]> {
    try {
      const { items, refused } = await use(source, new AbortController().signal, listServed[kind] as Lister<Kind>);
      for (const { name, reason } of refused) onNotice({ server: source.name, message: `Left out ${name}: ${reason}` });
      return items;
    } catch (cause) {
      onNotice({ server: source.name, message: `Cannot list its ${kind}: ${describeCause(cause)}` });
      return [];
    }
  }

  return {
    find,
    use,
    async list(kind, caller) {
      const share = kind === "prompts" ? "prompts" : "resources";
      const all = find(share, caller).map(async (source) => {
        const asking = known.get(toSourceKey(source), kind, () => ask(source, kind));
        const items = await within(asking, patienceMs);
        if (items === undefined) void asking.then(() => onChange(share));
        return (items ?? []).map((item) => ({ source, item }));
      });
      return (await Promise.all(all)).flat();
    },
  };
}

function toResourceSource({ find, list, use }: SharedServers): McpResourceSource {
  return {
    list: async (caller) =>
      (await list("resources", caller)).map(({ source, item: { uri, name, ...facts } }) => ({
        ...facts,
        uri: toServerUri(source.name, uri),
        name: `${source.name}/${name}`,
      })),
    templates: async (caller) =>
      (await list("resourceTemplates", caller)).map(({ source, item: { uri, name, ...facts } }) => ({
        ...facts,
        uriTemplate: toServerUri(source.name, uri),
        name: `${source.name}/${name}`,
      })),
    async read(outer, { mcpReq: { signal } }, caller) {
      const [server, uri] = splitName(outer.startsWith(`${serversRoot}/`) ? outer.slice(serversRoot.length + 1) : "");
      const source = find("resources", caller).find(({ name }) => name === server);
      if (source === undefined || !isServedUri(uri)) return undefined;
      const parts = await use(source, signal, async (connection, limit) =>
        readServed(source, { uri, signal: limit }, connection),
      );
      return { contents: parts.map((part) => ({ ...part, uri: toServerUri(source.name, part.uri) })) };
    },
  };
}

function toPromptSource({ list, use }: SharedServers): McpPromptSource {
  return {
    list: async (caller) =>
      (await list("prompts", caller)).map(({ source, item }) => ({
        ...item,
        name: `${source.name}/${item.name}`,
        arguments: [...item.arguments],
      })),
    async get(outer, values, { mcpReq: { signal } }, caller) {
      const all = await list("prompts", caller);
      const found = all.find(({ source, item }) => outer === `${source.name}/${item.name}`);
      if (found === undefined) return undefined;
      const { source, item } = found;
      if (!isSmall(values))
        throw toMcpFailure(source, `it gets at most ${mostValues} arguments of ${longestValue} characters`);
      const { description, messages } = await use(source, signal, async (connection, limit) =>
        fillServed(source, { name: item.name, values, signal: limit }, connection),
      );
      const blocks = messages.map(({ role, content }) => ({ role, content: toBlock(source, content) }));
      return { ...(description !== undefined && { description }), messages: blocks };
    },
  };
}

interface Owned<List extends Lists[ListKind]> {
  readonly source: McpSource;
  readonly item: List["items"][number];
}

function mayRead({ scopes }: Caller, owner: string): boolean {
  return mayCallTool(scopes, { owner, tool: reading });
}

/** What is before the first slash, and what is behind it. */
function splitName(text: string): readonly [string, string] {
  const end = text.indexOf("/");
  return end === -1 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
}

function isSmall(values: Readonly<Record<string, string>>): boolean {
  const texts = Object.values(values);
  return texts.length <= mostValues && texts.every((text) => text.length <= longestValue);
}

/** A block of a prompt; one of no known kind becomes a text. */
function toBlock({ name }: McpSource, content: JsonObject): PromptMessage["content"] {
  const [block] = toContentBlocks({ [contentKey]: [content] }) ?? [];
  return block === undefined ? { type: "text", text: JSON.stringify(content) } : linkToServer(name, block);
}

/** What a promise resolves with, if it does within this time. */
async function within<Value>(work: Promise<Value>, ms: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined)));
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Not every server tells of changes; for so long a list is not asked for again, because clients ask for it page by page. */
const keptMs = 10_000;

interface KeptLists {
  get<Items>(server: string, kind: ListKind, ask: () => Promise<Items>): Promise<Items>;
  forget(server: string): void;
}

function createKeptLists(): KeptLists {
  const lists = new Map<string, Map<ListKind, { readonly asking: Promise<unknown>; until: number }>>();
  return {
    get(server, kind, ask) {
      const ofServer = lists.get(server) ?? new Map<ListKind, { readonly asking: Promise<unknown>; until: number }>();
      lists.set(server, ofServer);
      const kept = ofServer.get(kind);
      if (kept !== undefined && performance.now() < kept.until) return kept.asking as ReturnType<typeof ask>;
      const made = { asking: ask(), until: Infinity };
      ofServer.set(kind, made);
      void made.asking.then(() => (made.until = performance.now() + keptMs));
      return made.asking;
    },
    forget: (server) => lists.delete(server),
  };
}
