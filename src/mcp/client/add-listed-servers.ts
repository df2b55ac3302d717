import { join } from "node:path";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { toSourceKey, type McpSource, toMcpSource, type McpServerEntry } from "../../core/mcp-source.ts";
import { isName, nameRule } from "../../core/names.ts";
import { createKeptContent, type KeptContent } from "../../runtimes/mcp/kept-content.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { loadLock, resolveLockPath, updateLock } from "../../skills/trust/lock-file.ts";
import type { LockedServer } from "../../skills/trust/lock-format.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { addMcpServers } from "./add-mcp-servers.ts";
import { inspectServer, type McpOffer } from "./inspect-server.ts";
import type { McpServersOptions } from "./open-mcp-servers.ts";
import { createServerContent, type McpServerContent } from "./server-content.ts";

/** Does what `openMcpServers` says. */
export async function addListedServers(
  workspace: Pick<Workspace, "addComponent">,
  servers: Readonly<Record<string, McpServerEntry>>,
  options: McpServersOptions,
): Promise<McpServerContent> {
  const {
    runtimes,
    directory = process.cwd(),
    home = resolveKitbagHome(process.env),
    accept,
    onNotice = () => {},
  } = options;
  const sources = Object.entries(servers).map(([name, listed]) => toSource(name, listed));
  const kept = createKeptContent(join(home, "cache", "mcp"));
  const lockPath = resolveLockPath(directory);
  for (const source of accept === undefined ? [] : sources) {
    await offer(source, { runtimes, kept, lockPath, accept, onNotice });
  }
  const pins = loadLock(lockPath).servers;
  await addMcpServers(workspace, sources, {
    findPins: (key) => pins?.get(key),
    kept,
    openMcp: () => runtimes.openMcp(),
    onNotice,
  });
  return createServerContent(sources, {
    findPins: (key) => pins?.get(key),
    openMcp: () => runtimes.openMcp(),
    onNotice,
  });
}

function toSource(name: string, listed: McpServerEntry): McpSource {
  const source = isName(name) ? toMcpSource(name, listed) : `the name must be of ${nameRule}`;
  if (typeof source !== "string") return source;
  throw new KitbagError("option-invalid", { option: `servers.${name}`, found: source, expected: "an MCP server" });
}

interface Offering extends Required<Pick<McpServersOptions, "runtimes" | "onNotice">> {
  readonly accept: NonNullable<McpServersOptions["accept"]> | undefined;
  readonly kept: KeptContent;
  readonly lockPath: string;
}

async function offer(source: McpSource, { runtimes, kept, lockPath, accept, onNotice }: Offering): Promise<void> {
  const key = toSourceKey(source);
  const before = loadLock(lockPath).servers?.get(key);
  let offered: McpOffer;
  try {
    offered = await inspectServer(source, { runtime: await runtimes.openMcp(), kept, before });
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    return onNotice({ server: key, message: cause.message });
  }
  if ((before !== undefined && isSame(before, offered)) || (await accept?.(offered)) !== true) return;
  await updateLock(lockPath, (lock) => {
    lock.servers ??= new Map();
    lock.servers.set(key, offered.pins);
  });
}

function isSame(
  { leftOut: before, shares: shared = [] }: LockedServer,
  { tools, skills, gone, pins: { leftOut, shares = [] } }: McpOffer,
): boolean {
  if (!shares.every((share) => shared.includes(share))) return false;
  const isKnown = [...(leftOut ?? [])].every(([name, digest]) => before?.get(name) === digest);
  return gone.length === 0 && isKnown && [...tools, ...skills].every(({ change }) => change === "same");
}
