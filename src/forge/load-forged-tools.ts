import { toRealPath } from "../platform/paths.ts";
import type { FolderTrustOptions } from "../skills/trust/folder-trust.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { createToolReader } from "./disk/stored-tool.ts";
import { createToolTrust } from "./disk/tool-trust.ts";
import { createToolsFolder } from "./disk/tools-folder.ts";
import { createLiveTools, type LiveTools } from "./live/live-tools.ts";

/** Where tools that were made are loaded from, and whose trust counts. */
export interface LoadForgedOptions extends FolderTrustOptions {
  readonly directory: string;
}

/** Puts the tools of a project's `.kitbag/tools` into a workspace as they are now, for those who make none. Nothing is followed. */
export function loadForgedTools(
  workspace: Workspace,
  { directory, ...trust }: LoadForgedOptions,
): Pick<LiveTools, "list" | "refresh"> {
  const folder = createToolsFolder(toRealPath(directory));
  const live = createLiveTools({ workspace, folder, trust: createToolTrust(trust), read: createToolReader() });
  live.refresh();
  return live;
}
