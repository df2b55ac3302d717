import { isKitbagError } from "../../core/errors.ts";
import { toSourceKey, type McpSource } from "../../core/mcp-source.ts";
import type { Skill } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import type { McpEvent } from "../../runtimes/mcp/mcp-runtime.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { describeChanges, findServerTools, type ServerTools, type ServerToolsOptions } from "./server-tools.ts";

/** Something about a server that an operator should know. */
export interface McpNotice {
  /** As the lock calls it. */
  readonly server: string;
  readonly message: string;
}

/** How servers become sources of tools. */
export interface AddMcpServersOptions extends ServerToolsOptions {
  readonly onNotice: (notice: McpNotice) => void;
}

/**
 * Adds the tools of other MCP servers to a workspace, each server as a component. Only accepted tools are added. What is
 * wrong with a server is told, and does not keep the others from being added.
 */
export async function addMcpServers(
  workspace: Pick<Workspace, "addComponent">,
  sources: readonly McpSource[],
  options: AddMcpServersOptions,
): Promise<void> {
  for (const { name, tools } of await findAll(sources, options)) {
    if (tools.length > 0) add(workspace, { name, tools }, options);
  }
}

/** The same for servers that were added before: what is agreed to now takes the place of what was. */
export async function replaceMcpServers(
  workspace: Pick<Workspace, "addComponent" | "removeComponent" | "change">,
  sources: readonly McpSource[],
  options: AddMcpServersOptions,
): Promise<void> {
  const found = await findAll(sources, options);
  workspace.change(() => {
    for (const { name, tools } of found) {
      workspace.removeComponent(name);
      if (tools.length > 0) add(workspace, { name, tools }, options);
    }
  });
}

function findAll(
  sources: readonly McpSource[],
  options: AddMcpServersOptions,
): Promise<{ readonly name: string; readonly tools: readonly Tool[] }[]> {
  return Promise.all(
    sources.map(async (source) => {
      const made = await findServerTools(source, options);
      tellProblems(source.name, made, options);
      return { name: source.name, tools: made.tools };
    }),
  );
}

function add(
  workspace: Pick<Workspace, "addComponent">,
  component: { readonly name: string; readonly tools: readonly Tool[] },
  { onNotice }: AddMcpServersOptions,
): void {
  try {
    workspace.addComponent(component);
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    onNotice({ server: component.name, message: cause.message });
  }
}

/** Gives a skill the tools of the servers that it brings. A skill that is not trusted gets none: nothing of it may run. */
export async function withServerTools(skill: Skill, options: AddMcpServersOptions): Promise<Skill> {
  const { servers = [], folder } = skill;
  if (servers.length === 0 || folder?.trust.status === "untrusted") return skill;
  const tools = new Map(skill.tools.map((tool) => [tool.name, tool]));
  for (const source of servers) {
    const key = toSourceKey(source);
    const made = await findServerTools(source, options);
    tellProblems(key, made, options);
    for (const tool of made.tools) {
      if (!tools.has(tool.name)) tools.set(tool.name, tool);
      else options.onNotice({ server: key, message: `Left out "${tool.name}": the skill has a tool of this name` });
    }
  }
  return { ...skill, tools: [...tools.values()] };
}

function tellProblems(server: string, { problem, refused }: ServerTools, { onNotice }: AddMcpServersOptions): void {
  if (problem !== undefined) onNotice({ server, message: problem });
  for (const { name, reason } of refused) onNotice({ server, message: `Left out ${JSON.stringify(name)}: ${reason}` });
}

/** What an operator should know of what happened at a server; nothing if all is as it was agreed. */
export function toNotice(event: McpEvent, findPins: AddMcpServersOptions["findPins"]): McpNotice | undefined {
  const server = toSourceKey(event.source);
  if (event.type === "server-down") return { server, message: `it was taken out: ${event.reason}` };
  if (event.type === "content") return undefined;
  const pins = findPins(server);
  const changed = pins === undefined ? undefined : describeChanges(pins, event.definitions);
  return changed === undefined
    ? undefined
    : { server, message: `${changed}; to accept it: kitbag trust --mcp ${server}` };
}
