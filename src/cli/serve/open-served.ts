import { isKitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import type { McpServing } from "../../mcp/server/mcp-serving.ts";
import { createOutputTool } from "../../workspace/outputs/output-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Invocation } from "../cli-command.ts";
import { createConfigured, openWorkspace, type Additions, type OpenWorkspace } from "../config/open-workspace.ts";
import { startLog } from "../logs/start-log.ts";
import { openServers } from "../mcp/open-servers.ts";
import { getText } from "../options.ts";
import { toPrintableLine } from "../printable.ts";
import type { OpenRecords } from "../store/with-records.ts";
import { addForge } from "./add-forge.ts";
import { createCodeMode } from "./code-mode.ts";
import { followFolders } from "./follow-folders.ts";
import { createFileLister } from "./list-project-files.ts";
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

/** Opens the tools and skills of a project, code mode and the MCP server in front of them. */
export async function openServed(
  invocation: Invocation,
  { directories, exposure, hasForge }: ServeWishes,
  { records, runtimes }: OpenRecords,
): Promise<Served> {
  // The largest part to load; the rest does not need it to begin.
  const loading = import("../../mcp/server/create-mcp-server.ts");
  loading.catch(() => {});
  const code = createCodeMode(runtimes);
  const additions = { runtimes: [...runtimes, code.runtime], complete: records.complete };
  const { workspace, options, mcp, model, serve, forge: made } = await openTools(invocation, additions);
  const { store } = options;
  await startLog(workspace, options, invocation);
  const servers = openServers(invocation, runtimes);
  await servers.add(workspace, mcp);
  const followed = await followFolders(invocation, workspace, { directories, servers });
  // `kitbag trust` in another terminal counts at once.
  followed.onReload(() => void servers.refresh(workspace, mcp));
  await code.addTool(workspace);
  // Not every client shows resources to its model.
  if (workspace.getTool("read_output") === undefined) workspace.add(createOutputTool(workspace));
  const forge = hasForge
    ? await addForge(invocation, { workspace, store, runtimes, followed, model, ...made })
    : undefined;
  records.keepVersions(workspace);
  const { createMcpServer } = await loading;
  const server = createMcpServer({
    workspace,
    exposure: exposure ?? serve?.exposure ?? "both",
    version: readVersion(),
    listFiles: createFileLister(invocation.cwd),
    ...(store !== undefined && { store }),
    ...(forge !== undefined && { forge }),
    onError(error) {
      invocation.terminal.note(`${toPrintableLine(`MCP: ${error.message}`)}\n`);
    },
  });

  return {
    workspace,
    server,
    store,
    async close() {
      await server.close();
      await forge?.close();
      await followed.close();
      await code.close();
    },
  };
}

/** A project needs neither a configuration nor skills: tools and skills can also be made while it is served. */
async function openTools(invocation: Invocation, additions: Additions): Promise<OpenWorkspace> {
  try {
    return await openWorkspace(invocation, getText(invocation.options, "module"), additions);
  } catch (cause) {
    if (!isKitbagError(cause, "config-missing")) throw cause;
    return createConfigured({}, additions, invocation.cwd);
  }
}
