import { realpathSync } from "node:fs";
import { resolve } from "node:path";

import { isInside } from "../../skills/folder/is-inside.ts";
import { createFolderTrust, type FolderTrust } from "../../skills/trust/folder-trust.ts";
import type { CliContext } from "../cli-command.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import { relativeFolders } from "./find-options.ts";

/**
 * Makes the judge of skill folders for a command. A folder that the person names may run; one that `KITBAG_SKILLS` names by a
 * relative path is part of whatever project somebody works in, and must be trusted like any other part of it.
 */
export function createTrust(context: CliContext, named: readonly string[]): FolderTrust {
  const trust = createFolderTrust({ home: resolveKitbagHome(context.env) });
  const chosen = named.flatMap((directory) => toReal(resolve(context.cwd, directory)));
  const loose = relativeFolders(context).flatMap(toReal);
  const judge: FolderTrust = (folder) => {
    const isIn = (root: string): boolean => isInside(folder.directory, root);
    const isOfProject = folder.scope === "given" && loose.some(isIn) && !chosen.some(isIn);
    return trust(isOfProject ? { ...folder, scope: "project" } : folder);
  };
  return trust.path === undefined ? judge : Object.assign(judge, { path: trust.path });
}

function toReal(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
