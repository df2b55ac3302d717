import type { McpServerEntry } from "../../core/mcp-source.ts";
import type { Runtimes } from "../../runtimes/open-runtimes.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { McpNotice } from "./add-mcp-servers.ts";
import type { McpOffer } from "./inspect-server.ts";
import type { McpServerContent } from "./server-content.ts";

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
   * nothing is accepted: only what is pinned is used
   */
  readonly accept?: (offer: McpOffer) => boolean | Promise<boolean>;
  /** Told what is left out, and why. */
  readonly onNotice?: (notice: McpNotice) => void;
}

/**
 * Adds the tools of other MCP servers to a workspace, as `server/tool`. A tool whose description or schema changes after it was
 * accepted does not run (`tool-quarantined`), until it is accepted again.
 *
 * Answers with what clients can read of these servers: give it to `createMcpServer`, as `resources` and `prompts`.
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
 * // The server of another program …
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
): Promise<McpServerContent> {
  // A program that only serves loads nothing of this.
  const { addListedServers } = await import("./add-listed-servers.ts");
  return addListedServers(workspace, servers, options);
}
