import { existsSync } from "node:fs";
import { join } from "node:path";

import type { ForgedTool } from "../../forge/forge-interface.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { CliContext } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";

/** Tells whether the project has tools that were made. */
export function hasForged({ cwd }: Pick<CliContext, "cwd">): boolean {
  return existsSync(join(cwd, ".kitbag", "tools"));
}

/** The tools that were made in the project, in a workspace. */
export interface LoadedForged {
  list(): readonly ForgedTool[];
  /** Looks at them again: pipelines may find the tools of their steps now. */
  refresh(): void;
}

const none: LoadedForged = { list: () => [], refresh: () => {} };

/** Adds the tools that were made in the project. Most projects have none: then nothing that reads them is loaded. */
export async function loadForged(context: CliContext, workspace: Workspace): Promise<LoadedForged> {
  if (!hasForged(context)) return none;
  const { loadForgedTools } = await import("../../forge/live/live-tools.ts");
  return loadForgedTools(workspace, { directory: context.cwd, home: resolveKitbagHome(context.env) });
}

/** Says on standard error why the tool of this name is not there, if it was made and may not run or cannot be used. */
export function noteForged(forged: readonly ForgedTool[], name: string, terminal: CliContext["terminal"]): void {
  const found = forged.find((tool) => tool.name === name.replace(/@.*$/u, "") && tool.status !== "live");
  for (const { message, cure } of found?.diagnostics ?? []) {
    terminal.note(`${toPrintable(cure === undefined ? message : `${message}. ${cure}`)}\n`);
  }
}
