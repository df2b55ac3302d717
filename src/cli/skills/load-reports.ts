import { join } from "node:path";

import { findSkills } from "../../skills/discovery/find-skills.ts";
import type { LoadedSkills, LoadSkillsOptions } from "../../skills/load/load-skills.ts";
import { openProjectLock } from "../../skills/trust/lock-file.ts";
import type { CliContext } from "../cli-command.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import { toPrintable } from "../printable.ts";
import { followMove } from "../store/follow-move.ts";
import { usageError } from "../usage-error.ts";
import { createProgress } from "./create-progress.ts";
import { createTrust } from "./create-trust.ts";
import { toFindOptions } from "./find-options.ts";

/**
 * Finds and reads the skills that a command works with: those of `directories`, then those of the usual places. Runs nothing
 * that is in them. What could not be read is said on standard error.
 *
 * @throws {KitbagError} `usage-invalid` if a folder that was named is not there.
 */
export async function loadReports(
  context: CliContext,
  directories: readonly string[],
): Promise<LoadedSkills["reports"]> {
  const { reports, diagnostics } = await load(context, directories);
  const missing = diagnostics.find(({ code }) => code === "folder-missing");
  if (missing !== undefined) throw usageError(missing.message);
  for (const { message } of diagnostics) context.terminal.note(`${toPrintable(message)}\n`);
  return reports;
}

async function load(context: CliContext, directories: readonly string[]): Promise<LoadedSkills> {
  const places = toFindOptions(context, directories);
  // Most projects have no skills: then nothing that reads them is loaded.
  if (places.directories?.length === 0 && findSkills(places).locations.length === 0) {
    return { reports: [], diagnostics: [] };
  }
  await followMove(context);
  const { loadSkills } = await import("../../workspace/skills/load-workspace-skills.ts");
  return loadSkills({ ...toLoadOptions(context, directories), ...places });
}

/** How every command reads skills: with what this person trusts, what the project pins, and what was read before. */
export function toLoadOptions(context: CliContext, named: readonly string[]): LoadSkillsOptions {
  return {
    cacheFile: join(resolveKitbagHome(context.env), "cache", "skills.jsonl"),
    trust: createTrust(context, named),
    lock: openProjectLock(context.cwd),
    onProgress: createProgress(context.terminal),
  };
}
