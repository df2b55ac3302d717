import { join } from "node:path";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { toSourceKey, type McpSource } from "../../core/mcp-code.ts";
import { toMcpSource, type McpServerEntry } from "../../core/mcp-source.ts";
import { isName, nameRule } from "../../core/names.ts";
import { createKeptContent, type KeptContent } from "../../runtimes/mcp/kept-content.ts";
import type { Runtimes } from "../../runtimes/open-runtimes.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import { loadLock, resolveLockPath, updateLock } from "../../skills/trust/lock-file.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { addMcpServers, type McpNotice } from "./add-mcp-servers.ts";
import { inspectServer, type McpOffer } from "./inspect-server.ts";

/** How other MCP servers become sources of tools. */
export interface McpServersOptions {
  /** Who starts and reaches them: the runtimes that the workspace has, too. */
  readonly runtimes: Pick<Runtimes, "openMcp">;
  /** Whose `kitbag.lock` remembers what servers offered. @default the working directory */
  readonly directory?: string;
  /** Where what servers say is kept. @default `KITBAG_HOME`, or `~/.kitbag` */
  readonly home?: string;
  /**
   * Asked about a server that is new, or offers something otherwise than the lock says. What is accepted is pinned there. @default
   * nobody accepts anything: only what is pinned is used
   */
  readonly accept?: (offer: McpOffer) => boolean | Promise<boolean>;
  /** Told what is left out, and why. */
  readonly onNotice?: (notice: McpNotice) => void;
}

/**
 * Adds the tools of other MCP servers to a workspace, as `server/tool`. A tool whose description or schema changes after it was
 * accepted does not run (`tool-quarantined`), until it is accepted again.
 *
 * @throws {KitbagError} `option-invalid` if a server is not written down rightly; `config-invalid` if the lock cannot be used.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 * import { createMcpServer, openGate, openMcpServers } from "kitbag/mcp";
 * import { openRuntimes } from "kitbag/runtimes";
 * import { mkdtempSync } from "node:fs";
 *
 * // Somebody else's server …
 * const hello = defineTool({ name: "hello", description: "Says hello", run: () => "Hello!" });
 * const server = createMcpServer({ workspace: createWorkspace({ tools: [hello] }), exposure: "direct" });
 * const gate = await openGate({ routes: [server.route()] });
 *
 * // … is a source of tools here.
 * const directory = mkdtempSync("/tmp/kitbag-example-");
 * const runtimes = openRuntimes({ directory, home: directory });
 * const workspace = createWorkspace({ runtimes });
 * await openMcpServers(workspace, { far: { url: `${gate.url}/mcp` } }, {
 *   runtimes,
 *   directory,
 *   home: directory,
 *   accept: ({ tools }) => tools.every(({ tool }) => tool.name === "hello"),
 * });
 * const outcome = await workspace.call("far/hello", {});
 * console.assert(outcome.status === "ok" && outcome.output === "Hello!");
 *
 * await runtimes.close();
 * await gate.close();
 * await server.close();
 * ```
 */
export async function openMcpServers(
  workspace: Pick<Workspace, "addComponent">,
  servers: Readonly<Record<string, McpServerEntry>>,
  options: McpServersOptions,
): Promise<void> {
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
  const isSame = offered.gone.length === 0 && offered.tools.every(({ change }) => change === "same");
  if ((before !== undefined && isSame) || (await accept?.(offered)) !== true) return;
  await updateLock(lockPath, (lock) => {
    lock.servers ??= new Map();
    lock.servers.set(key, offered.pins);
  });
}
