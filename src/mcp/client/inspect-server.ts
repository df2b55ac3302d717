import { toSourceKey, type McpCode, type McpDefinition, type McpSource } from "../../core/mcp-source.ts";
import type { Tool } from "../../core/tool.ts";
import { toDefinitionDigest } from "../../runtimes/mcp/definitions.ts";
import type { KeptContent } from "../../runtimes/mcp/kept-content.ts";
import type { ConnectOptions, McpRuntime } from "../../runtimes/mcp/mcp-runtime.ts";
import { readServerSkills, type ServedSkill } from "../../runtimes/mcp/read-server-skills.ts";
import type { LockedServer, McpShare } from "../../skills/trust/lock-format.ts";
import { keepDefinition, readDefinition } from "./server-tools.ts";
import { toTools, type RefusedTool } from "./to-tools.ts";

/** What a server offers now, to be read before it is accepted. */
export interface McpOffer {
  /** The server, as the lock calls it. */
  readonly key: string;
  readonly source: McpSource;
  readonly tools: readonly McpOfferedTool[];
  readonly skills: readonly McpOfferedSkill[];
  /** Tools and skills that cannot be used. */
  readonly refused: readonly RefusedTool[];
  /** Those that were agreed to and are gone, by the server's names. */
  readonly gone: readonly string[];
  /** What the lock holds if the offer is accepted. */
  readonly pins: LockedServer;
}

/** What became of something since it was agreed to. */
export type McpChange = "new" | "changed" | "same";

/** One tool of a server, held against what was agreed to. */
export interface McpOfferedTool {
  readonly tool: Tool;
  /** All that the server says about it, in its own words: this is what a model and a caller go by. */
  readonly definition: McpDefinition;
  readonly change: McpChange;
  /** What was agreed to, of one that changed; none if that was never seen on this machine. */
  readonly before?: McpDefinition;
}

/** One skill of a server, held against what was agreed to. */
export interface McpOfferedSkill {
  readonly skill: ServedSkill;
  readonly digest: string;
  readonly change: McpChange;
  /** What was agreed to, of one that changed; none if that was never seen on this machine. */
  readonly before?: ServedSkill;
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
  const tools = made.tools.map((tool): McpOfferedTool => {
    const { definition } = tool.code as McpCode;
    const was = before?.tools.get(definition.name);
    return { tool, definition, ...compare(was, keepDefinition(kept, definition), (old) => readDefinition(kept, old)) };
  });
  const served = await readServerSkills(connection, kept);
  const skills = served.skills.map(({ skill, digest }): McpOfferedSkill => {
    const was = before?.skills.get(skill.uri);
    return { skill, digest, ...compare(was, digest, (old) => kept.readJson(old) as ServedSkill | undefined) };
  });
  const { prompts, resources } = connection.client.getServerCapabilities() ?? {};
  const shares: readonly McpShare[] = [
    ...(prompts === undefined ? [] : (["prompts"] as const)),
    ...(resources === undefined ? [] : (["resources"] as const)),
  ];
  const leftOut = made.refused.flatMap(({ name }) => definitions.tools.get(name) ?? []);
  return {
    key: toSourceKey(source),
    source,
    tools,
    skills,
    refused: [...definitions.refused, ...made.refused, ...served.refused],
    gone: [...(before?.tools.keys() ?? [])].filter((name) => !definitions.tools.has(name)),
    pins: {
      tools: toDigests(tools.map(({ definition }) => definition)),
      skills: new Map(skills.map(({ skill, digest }) => [skill.uri, digest])),
      ...(leftOut.length > 0 && { leftOut: toDigests(leftOut) }),
      ...(shares.length > 0 && { shares }),
    },
  };
}

function toDigests(definitions: readonly McpDefinition[]): ReadonlyMap<string, string> {
  return new Map(definitions.map((definition) => [definition.name, toDefinitionDigest(definition)]));
}

/** Holds what something is against what was agreed to; `read` finds that by its digest. */
function compare<Content>(
  was: string | undefined,
  now: string,
  read: (digest: string) => Content | undefined,
): { readonly change: McpChange; readonly before?: Content } {
  if (was === undefined) return { change: "new" };
  if (was === now) return { change: "same" };
  const before = read(was);
  return { change: "changed", ...(before !== undefined && { before }) };
}
