import { join } from "node:path";

import { findSkills, type FindOptions } from "../../skills/discovery/find-skills.ts";
import type { LoadedSkills, LoadSkillsOptions } from "../../skills/load/load-skills.ts";
import { createFolderTrust } from "../../skills/trust/folder-trust.ts";
import type { CliContext } from "../cli-command.ts";
import { resolveKitbagHome } from "../config/kitbag-home.ts";
import { usageError } from "../usage-error.ts";
import { createProgress } from "./create-progress.ts";
import { toFindOptions } from "./find-options.ts";

/**
 * Finds and reads the skills that a command works with. Runs nothing that is in them.
 *
 * @throws {KitbagError} `usage-invalid` if a folder that was named is not there; `config-invalid` if the list of what is trusted
 *   cannot be used.
 */
export async function loadReports(context: CliContext, directories: readonly string[]): Promise<LoadedSkills> {
  const home = resolveKitbagHome(context.env);
  const loaded = await load(toFindOptions(context, directories), {
    cacheFile: join(home, "cache", "skills.json"),
    trust: createFolderTrust({ home }),
    onProgress: createProgress(context.terminal),
  });
  const missing = loaded.diagnostics.find((diagnostic) => diagnostic.severity === "error");
  if (missing !== undefined) throw usageError(missing.message);
  return loaded;
}

async function load(places: FindOptions, options: LoadSkillsOptions): Promise<LoadedSkills> {
  // Most projects have no skills: then nothing that reads them is loaded.
  if (places.directories?.length === 0 && findSkills(places).locations.length === 0) {
    return { reports: [], diagnostics: [] };
  }
  const { loadSkills } = await import("../../workspace/skills/load-workspace-skills.ts");
  return loadSkills({ ...places, ...options });
}
