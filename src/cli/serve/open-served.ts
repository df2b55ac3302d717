import { availableParallelism } from "node:os";

import type { Store } from "../../core/store.ts";
import { createScopesOf } from "../../gate/access/token-check.ts";
import type { McpServerEvent } from "../../mcp/server/mcp-server-options.ts";
import type { McpServing } from "../../mcp/server/mcp-serving.ts";
import { createOutputTool } from "../../workspace/outputs/output-tool.ts";
import type { Quotas } from "../../workspace/quotas/quotas.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Invocation } from "../cli-command.ts";
import { openWorkshop } from "../forge/open-workshop.ts";
import { readLogLevel } from "../logs/log-level.ts";
import { toPrintableLine } from "../printable.ts";
import type { OpenRecords } from "../store/with-records.ts";
import { followFolders } from "./follow-folders.ts";
import { createFileLister } from "./list-project-files.ts";
import type { LiveTokens } from "./live-tokens.ts";
import { readVersion } from "./own-files.ts";
import type { ServeWishes } from "./serve-wishes.ts";

/** A workspace that is ready to be served. */
export interface Served {
  readonly workspace: Workspace;
  readonly server: McpServing;
  readonly store: Store | undefined;
  /** Cancels what runs, and closes what was opened for serving. */
  close(): Promise<void>;
}

/** So many calls of one user run at once for each core: the rest of the machine is for other users. */
const callsPerCore = 4;

/** How often it is looked at what `kitbag quota` has set. */
const lookMs = 500;

/**
 * Quotas that are set in another terminal count at once. While they cannot be read, those of before stay, and `warn` is told so once,
 * until they can be read again.
 */
export function followQuotas(quotas: Pick<Quotas, "refresh">, warn: (cause: unknown) => void): NodeJS.Timeout {
  let isFailing = false;
  async function look(): Promise<void> {
    try {
      await quotas.refresh();
      isFailing = false;
    } catch (cause) {
      if (!isFailing) warn(cause);
      isFailing = true;
    }
  }
  return setInterval(() => void look(), lookMs).unref();
}

/** What happens to sessions is worth a line only to those who read the log. */
async function logSession({ terminal, ...given }: Invocation, { type, ...fields }: McpServerEvent): Promise<void> {
  const { createLogger } = await import("../logs/create-logger.ts");
  const logger = createLogger({ level: readLogLevel(given), write: terminal.note, isWatched: terminal.isWatched });
  const message = type === "session-dropped" ? "session closed to make room" : "session refused: too many are in use";
  logger.log("warn", message, fields);
}

/** Opens the tools and skills of a project, code mode and the MCP server in front of them. */
export async function openServed(
  invocation: Invocation,
  { directories, exposure, hasForge, http }: ServeWishes,
  { tokens, ...open }: OpenRecords & { readonly tokens: LiveTokens | undefined },
): Promise<Served> {
  // The largest part to load; the rest does not need it to begin.
  const loading = import("../../mcp/server/create-mcp-server.ts");
  loading.catch(() => {});
  const workshop = await openWorkshop(invocation, open, {
    hasForge,
    ...(http !== undefined && { maxPerUser: callsPerCore * availableParallelism() }),
    ...(tokens !== undefined && { scopesOf: (user: string) => createScopesOf(tokens.current)(user) }),
    async addSkills({ workspace, mcp }, servers) {
      const followed = await followFolders(invocation, workspace, { directories, servers });
      // `kitbag trust` in another terminal counts at once.
      followed.onReload(() => void servers.refresh(workspace, mcp));
      // Not every client shows resources to its model.
      if (workspace.getTool("read_output") === undefined) workspace.add(createOutputTool(workspace));
      return followed;
    },
  });
  const { workspace, options, serve, forge } = workshop;
  const { store } = options;
  const { createMcpServer } = await loading;
  const quotas = followQuotas(workspace.quotas, (cause) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    invocation.terminal.note(`${toPrintableLine(`Quotas: cannot read changes, those of before stay: ${reason}`)}\n`);
  });
  const server = createMcpServer({
    workspace,
    exposure: exposure ?? serve?.exposure ?? "both",
    version: readVersion(),
    listFiles: createFileLister(invocation.cwd),
    ...(store !== undefined && { store }),
    ...(forge !== undefined && { forge }),
    report: (event) => void logSession(invocation, event),
    onError(error) {
      invocation.terminal.note(`${toPrintableLine(`MCP: ${error.message}`)}\n`);
    },
  });

  return {
    workspace,
    server,
    store,
    async close() {
      clearInterval(quotas);
      await server.close();
      await workshop.close();
    },
  };
}
