import type { Workspace, WorkspaceOptions } from "../../workspace/workspace.ts";
import type { Invocation } from "../cli-command.ts";
import { readLogLevel } from "../options.ts";

/**
 * Logs the calls of a workspace on standard error from now on, if the person wants to read of them.
 *
 * @throws {KitbagError} `usage-invalid` for a level that there is not.
 */
export async function startLog(workspace: Workspace, options: WorkspaceOptions, invocation: Invocation): Promise<void> {
  const level = readLogLevel(invocation);
  if (level === "off") return;
  const { logCalls } = await import("./create-logger.ts");
  logCalls(workspace, { level, terminal: invocation.terminal, secrets: options.secrets ?? {} });
}
