import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type InputRequiredResult,
  type McpServer,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType,
  type ServerContext,
} from "@modelcontextprotocol/server";

import { isKitbagError } from "../../../core/errors.ts";
import type { McpResourceSource, ServedClient } from "../client.ts";
import { attachSkills, openShelf } from "../skills/attach-skills.ts";
import { readServedFile } from "../skills/served-skill.ts";
import { skillRoot } from "../skills/skill-uri.ts";
import { guideResource } from "./guide-resource.ts";
import { parseKitbagUri, serversRoot } from "./kitbag-uri.ts";
import { fileResources, outputResources } from "./output-resources.ts";
import { compareTexts, pageItems } from "./page-items.ts";
import type { CacheHint, ResourcePart } from "./resource-part.ts";
import { runResources } from "./run-resources.ts";
import type { RunWatch } from "./run-watch.ts";
import { skillResources } from "./skill-resources.ts";
import { createSubscriptions, type Subscriptions } from "./subscriptions.ts";
import { toolResources } from "./tool-resources.ts";
import { valueResources } from "./value-resources.ts";

/** Lists change with each skill that is opened, so no client may keep one. */
export const listTtlMs = 0;

/**
 * Serves the resources of a client, those of the skills extension among them. Before the server is connected. Answers with what the
 * client subscribed to; `runs` tells of changes of runs.
 */
export function attachResources(mcp: McpServer, client: ServedClient, runs?: RunWatch): Subscriptions {
  const { server } = mcp;
  // The extension registers handlers of its own for resources; ours take their place.
  attachSkills(mcp, client);
  server.registerCapabilities({ resources: { subscribe: true, listChanged: true } });
  const content = createContent(client);
  // A client that went away hears nothing.
  const onRunChange = (uri: string): void => void server.sendResourceUpdated({ uri }).catch(() => {});
  const subscriptions = createSubscriptions((uri) => runs?.follow(uri, () => onRunChange(uri), client.caller.id));

  server.setRequestHandler("resources/list", async ({ params }) => {
    const all = await content.list();
    const { items, nextCursor } = pageItems(all, params?.cursor, { keyOf: toOrder });
    return {
      resources: [...items],
      ...(nextCursor !== undefined && { nextCursor }),
      ...toCacheFields(client, listTtlMs),
    };
  });
  server.setRequestHandler("resources/templates/list", async () => ({
    resourceTemplates: [...(await content.templates())],
    ...toCacheFields(client, listTtlMs),
  }));
  server.setRequestHandler("resources/read", ({ params }, context) => content.read(params.uri, context));
  if (client.generation === "2025") {
    server.setRequestHandler("resources/subscribe", async ({ params }, context) => {
      // Who subscribes to what is not there would wait for ever.
      await content.read(params.uri, context);
      if (params.uri.startsWith(`${serversRoot}/`))
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, notFollowed);
      subscriptions.add(params.uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      subscriptions.delete(params.uri);
      return {};
    });
  }
  return subscriptions;
}

const notFollowed = "Cannot subscribe to a resource of another MCP server: read it again when you need it";

/** Everything that a client can read. */
interface Content {
  /** In the order that {@link toOrder} says: ours first, then what others serve beside it. */
  list(): Promise<readonly Resource[]>;
  templates(): Promise<readonly ResourceTemplateType[]>;
  /**
   * Reads a resource. What it answers must not be changed.
   *
   * @throws {ProtocolError} `InvalidParams` if there is no such resource, or it may not be read.
   */
  read(uri: string, context: ServerContext): Promise<ReadResourceResult | InputRequiredResult>;
}

const parts: readonly ResourcePart[] = [
  guideResource,
  runResources,
  toolResources,
  skillResources,
  outputResources,
  fileResources,
  valueResources,
];

/** Files of skills are the ones that were published, or an error. */
const fileTtlMs = 30_000;

const skillTemplate: ResourceTemplateType = {
  name: "skill-file",
  title: "File of a skill",
  uriTemplate: `${skillRoot}/{+path}`,
  description: "A file of a skill, byte for byte",
};

const ranks = ["kitbag://guide", "kitbag://runs", `${skillRoot}/`, "kitbag://tools/"];

/** What resources are listed by: what they are, then their URI. */
function toOrder({ uri }: Pick<Resource, "uri">): string {
  const rank = ranks.findIndex((prefix) => uri.startsWith(prefix));
  return `${rank === -1 ? ranks.length : rank} ${uri}`;
}

function byOrder(left: Resource, right: Resource): number {
  return compareTexts(toOrder(left), toOrder(right));
}

/** Makes what a client can read. It is cheap: everything behind it is shared and made when it is asked for. */
function createContent(client: ServedClient): Content {
  const own = parts.filter((part) => part.isFor(client));

  async function readOwn(uri: string): Promise<ReadResourceResult | undefined> {
    const parsed = parseKitbagUri(uri);
    const part = parsed && own.find(({ kind }) => kind === parsed.kind);
    const read = part && parsed && (await part.read(parsed, client));
    if (read === undefined) return undefined;
    // A client finds what it asked for by the URI that it asked with.
    const contents = read.contents.map((content) => ({ ...content, uri }));
    return { contents, ...toCacheFields(client, read.ttlMs ?? 0) };
  }

  async function read(uri: string, context: ServerContext): Promise<ReadResourceResult | InputRequiredResult> {
    const isOwn = uri.startsWith("kitbag:") && !uri.startsWith(`${serversRoot}/`);
    const found = await (isOwn ? readOwn(uri) : readOther(uri, client, context));
    if (found !== undefined) return found;
    throw new ResourceNotFoundError(uri, `Resource not found: ${cut(uri)}`);
  }

  return {
    async list() {
      const shelf = await openShelf(client);
      const skills = shelf.skills.map((one) => one.resource);
      const others = await listOthers(client, (source) => source.list?.(client.caller));
      // Each kind is in order already; only what others serve must be put in order.
      const before = own.filter((part) => part !== toolResources).flatMap((part) => part.list(client));
      return [...before, ...skills, ...toolResources.list(client), ...others.toSorted(byOrder)];
    },
    templates: async () => [
      ...own.flatMap((part) => part.templates),
      skillTemplate,
      ...(await listOthers(client, (source) => source.templates?.(client.caller))),
    ],
    read: (uri, context) => read(uri, context).catch(toProtocolError),
  };
}

async function listOthers<Item>(
  { resources }: ServedClient,
  list: (source: McpResourceSource) => readonly Item[] | Promise<readonly Item[]> | undefined,
): Promise<readonly Item[]> {
  return (await Promise.all(resources.map(async (source) => (await list(source)) ?? []))).flat();
}

async function readOther(
  uri: string,
  client: ServedClient,
  context: ServerContext,
): Promise<ReadResourceResult | InputRequiredResult | undefined> {
  if (uri.startsWith("skill:")) {
    const shelf = await openShelf(client);
    const file = shelf.findFile(uri);
    if (file !== undefined)
      return { contents: [{ ...readServedFile(file), uri }], ...toCacheFields(client, fileTtlMs) };
    if (shelf.findFolder(uri) !== undefined) {
      throw new ResourceNotFoundError(uri, `${cut(uri)} is a folder; read it with resources/directory/read`);
    }
  }
  for (const source of client.resources) {
    const found = await source.read(uri, context, client.caller);
    if (found !== undefined) return "contents" in found ? { ...toCacheFields(client, 0), ...found } : found;
  }
  return undefined;
}

/** The 2025 generation knows nothing of caches. What one client may see is not for another. */
export function toCacheFields({ generation }: ServedClient, ttlMs: number): CacheHint | Record<string, never> {
  return generation === "2026" ? { ttlMs, cacheScope: "private" } : {};
}

const longestShown = 200;

function cut(uri: string): string {
  return uri.length <= longestShown ? uri : `${uri.slice(0, longestShown)}…`;
}

/** Our own errors say what was wrong and what to do; other errors may hold what clients must not see. */
function toProtocolError(cause: unknown): never {
  if (isKitbagError(cause)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, cause.message);
  throw cause;
}
