import type { ContentBlock } from "@modelcontextprotocol/server";

/** What a URI of our own names. */
export interface KitbagUri {
  /** `guide`, `tools`, `skills`, `runs` or `outputs`; anything else is nothing of ours. */
  readonly kind: string;
  /** What is behind it, decoded: the address of a tool, the name of a skill; empty if there is nothing. */
  readonly name: string;
  readonly query: ReadonlyMap<string, string>;
}

/** What the URIs of resources of other MCP servers begin with: the server's name follows, and then the URI as the server writes it. */
export const serversRoot = "kitbag://servers";

/** The URI under which clients see a resource of another server. No second server can have it, because no name of a server has a slash. */
export function toServerUri(server: string, uri: string): string {
  return `${serversRoot}/${server}/${uri}`;
}

/** A content block of another server: what it says of resources, it says of those of its own server. */
export function linkToServer(server: string, block: ContentBlock): ContentBlock {
  if (block.type === "resource_link") return { ...block, uri: toServerUri(server, block.uri) };
  if (block.type !== "resource") return block;
  return { ...block, resource: { ...block.resource, uri: toServerUri(server, block.resource.uri) } };
}

const longestUri = 4096;
const grammar = /^kitbag:\/\/([a-z]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/u;

/** Parses a `kitbag:` URI; `undefined` for any other. A `/` in a name may be encoded or not. */
export function parseKitbagUri(uri: string): KitbagUri | undefined {
  const [, kind, name = "", query = ""] = (uri.length <= longestUri ? grammar.exec(uri) : undefined) ?? [];
  const decoded = decode(name);
  if (kind === undefined || decoded === undefined) return undefined;
  return { kind, name: decoded, query: new Map(new URLSearchParams(query)) };
}

/** The URI of something of ours. */
export function toKitbagUri(kind: string, name = "", query: Readonly<Record<string, string>> = {}): string {
  const path = name === "" ? "" : `/${name.split("/").map(encode).join("/")}`;
  const search = new URLSearchParams(query).toString();
  return `kitbag://${kind}${path}${search === "" ? "" : `?${search}`}`;
}

/** A colon needs no encoding, and handles of outputs have two. */
function encode(segment: string): string {
  return encodeURIComponent(segment).replaceAll("%3A", ":");
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
