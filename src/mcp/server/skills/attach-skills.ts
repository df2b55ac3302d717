import type { McpServer } from "@modelcontextprotocol/server";
import { SkillsExtension, type SkillReadResult, type SkillSource } from "@modelcontextprotocol/server/ext/skills";

import { pageItems } from "../resources/page-items.ts";
import type { ServedClient } from "../client.ts";
import { readServedFile } from "./read-served-file.ts";
import { openShelf } from "./skill-shelf.ts";
import { skillRoot } from "./skill-uri.ts";

/** How long a client may use what it read of skills; it hears of changes before, if it listens. */
const cacheHint = { ttlMs: 30_000, cacheScope: "private" } as const;

const attached = new WeakSet<McpServer>();

/**
 * Serves the skills of a client by the extension `io.modelcontextprotocol/skills`. Before the server is connected; doing it again
 * changes nothing.
 */
export function attachSkills(mcp: McpServer, client: ServedClient): void {
  if (attached.has(mcp)) return;
  attached.add(mcp);
  new SkillsExtension({ source: createSkillSource(client), baseUri: skillRoot, cacheHint }).attach(mcp);
}

function createSkillSource(client: ServedClient): SkillSource {
  return {
    async list({ cursor }) {
      const { skills } = await openShelf(client);
      const { items, nextCursor } = pageItems(skills, cursor, { keyOf: (one) => one.entry.uri });
      return { skills: items.map((one) => one.entry), ...(nextCursor !== undefined && { nextCursor }) };
    },
    async get(uri) {
      const shelf = await openShelf(client);
      return shelf.find(uri)?.entry;
    },
    async read(uri) {
      const shelf = await openShelf(client);
      const file = shelf.findFile(uri);
      return file && toReadResult(readServedFile(file));
    },
    async readDirectory(uri, { cursor }) {
      const shelf = await openShelf(client);
      const children = shelf.findFolder(uri);
      if (children === undefined) return undefined;
      const { items, nextCursor } = pageItems(children, cursor, { keyOf: (child) => child.uri });
      return { resources: [...items], ...(nextCursor !== undefined && { nextCursor }) };
    },
  };
}

function toReadResult({ mimeType, ...content }: ReturnType<typeof readServedFile>): SkillReadResult {
  const type = mimeType === undefined ? {} : { mimeType };
  if ("text" in content) return { text: content.text, ...type };
  return { bytes: Buffer.from(content.blob, "base64"), ...type };
}
