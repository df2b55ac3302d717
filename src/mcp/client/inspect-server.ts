import { toSourceKey, type McpCode, type McpSource } from "../../core/mcp-code.ts";
import type { Tool } from "../../core/tool.ts";
import { toDefinitionDigest } from "../../runtimes/mcp/definitions.ts";
import type { KeptContent } from "../../runtimes/mcp/kept-content.ts";
import type { ConnectOptions, McpRuntime } from "../../runtimes/mcp/mcp-runtime.ts";
import { readServerSkills, type ServedSkills } from "../../runtimes/mcp/read-server-skills.ts";
import type { LockedServer } from "../../skills/trust/lock-format.ts";
import { keepDefinition } from "./server-tools.ts";
import { toTools, type RefusedTool } from "./to-tools.ts";

/** What a server offers now, to be looked at before somebody agrees to it. */
export interface McpOffer {
  /** The server, as the lock calls it. */
  readonly key: string;
  readonly source: McpSource;
  readonly tools: readonly McpOfferedTool[];
  readonly skills: ServedSkills["skills"];
  /** Tools and skills that cannot be used. */
  readonly refused: readonly RefusedTool[];
  /** Those that were agreed to and are gone, by the server's names. */
  readonly gone: readonly string[];
  /** What is agreed to if somebody agrees. */
  readonly pins: LockedServer;
}

/** One tool of a server, held against what was agreed to. */
export interface McpOfferedTool {
  readonly tool: Tool;
  readonly change: "new" | "changed" | "same";
}

/**
 * Connects to a server and reads what it offers. What it says is kept, so that later it need not be started to be listed.
 *
 * @throws {KitbagError} `mcp-failed` if it cannot be reached.
 */
export async function inspectServer(
  source: McpSource,
  parts: {
    readonly runtime: Pick<McpRuntime, "connect">;
    readonly kept: KeptContent;
    readonly before: LockedServer | undefined;
  },
  options: ConnectOptions = {},
): Promise<McpOffer> {
  const { runtime, kept, before } = parts;
  const connection = await runtime.connect(source, options);
  const { definitions } = connection;
  const made = toTools(source, definitions.tools.values());
  const pinned = made.tools.map(({ code }) => (code as McpCode).definition);
  for (const definition of pinned) keepDefinition(kept, definition);
  const served = await readServerSkills(connection, kept);
  const pins: LockedServer = {
    tools: new Map(pinned.map((definition) => [definition.name, toDefinitionDigest(definition)])),
    skills: new Map(served.skills.map(({ skill, digest }) => [skill.uri, digest])),
  };
  return {
    key: toSourceKey(source),
    source,
    tools: made.tools.map((tool, index) => ({ tool, change: toChange(pinned[index]?.name ?? "", pins, before) })),
    skills: served.skills,
    refused: [...definitions.refused, ...made.refused, ...served.refused],
    gone: [...(before?.tools.keys() ?? [])].filter((name) => !definitions.tools.has(name)),
    pins,
  };
}

function toChange(name: string, now: LockedServer, before: LockedServer | undefined): McpOfferedTool["change"] {
  const digest = before?.tools.get(name);
  if (digest === undefined) return "new";
  return digest === now.tools.get(name) ? "same" : "changed";
}
