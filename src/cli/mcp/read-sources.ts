import { KitbagError } from "../../core/errors.ts";
import type { McpSource } from "../../core/mcp-code.ts";
import { configMcpSchema, toMcpSource, type McpServerEntry } from "../../core/mcp-source.ts";
import { isName, nameRule } from "../../core/names.ts";
import { readData } from "../config/read-data.ts";

const schema = { type: "object", additionalProperties: configMcpSchema, maxProperties: 256 };

/**
 * Reads `mcp` of a configuration: other MCP servers, by name.
 *
 * @throws {KitbagError} `config-invalid` if something is wrong with one of them.
 */
export function readSources(value: unknown, path: string): readonly McpSource[] {
  if (value === undefined) return [];
  const refuse = (reason: string): KitbagError => new KitbagError("config-invalid", { path, reason: `mcp: ${reason}` });
  const read = readData({ name: "mcp", value }, schema, path);
  return Object.entries(read as unknown as Record<string, McpServerEntry>).map(([name, listed]) => {
    const source = isName(name) && name !== "global" ? toMcpSource(name, listed) : `the name must be of ${nameRule}`;
    if (typeof source === "string") throw refuse(`${name}: ${source}`);
    return source;
  });
}
