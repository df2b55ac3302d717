import { existsSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { isInside } from "../../platform/paths.ts";
import { createSkillMemory, type SkillMemory } from "../../skills/load/skill-memory.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { scanSkill } from "../../skills/scan/scan-skill.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { loadSkills } from "../../workspace/skills/folder-skills.ts";
import type { Fetched } from "./fetched.ts";
import { trustNothing } from "./open-project.ts";
import { readPlugin, type ListedPlugin } from "./read-plugins.ts";

/** A skill of a source, or the reason why there is none. */
export interface GatheredSkill {
  readonly report: SkillReport;
  /** What is said about it, and what a careful reader would stop at. */
  readonly diagnostics: readonly Diagnostic[];
  readonly fetched: Fetched;
  /** Where it is in what was fetched, with `/`; empty if it is all of it. */
  readonly path: string;
  readonly plugin?: string;
}

/**
 * Finds and reads the skills of a source, or of some of its plugins. Runs nothing. All plugins must be in the source itself.
 *
 * @throws {KitbagError} `import-failed` if the file of a plugin is broken; `import-refused` if a link leads out of the source.
 */
export async function gatherSkills(
  fetched: Fetched,
  plugins: readonly ListedPlugin[],
  shown: string,
): Promise<readonly GatheredSkill[]> {
  const groups = plugins.map((plugin) => ({ plugin, folders: findFolders(fetched.directory, plugin, shown) }));
  const directories =
    plugins.length === 0 ? [fetched.directory] : [...new Set(groups.flatMap(({ folders }) => folders))];
  // The bytes that were read are the bytes that are scanned, shown and copied.
  const memory = createSkillMemory();
  const { reports } = await loadSkills({ directories, trust: trustNothing, memory });
  for (const { directory } of reports) checkInside(directory, fetched.directory, shown);
  const each = await Promise.all(reports.map((report) => unshadow(report, memory)));
  return each.map((report) => {
    const owner = groups.find(({ folders }) => folders.some((folder) => isInside(report.directory, folder)));
    const findings = scanSkill(memory.read(report.directory).snapshot);
    return {
      report,
      // That it is not trusted yet is why it is shown.
      diagnostics: [...report.diagnostics.filter(({ code }) => code !== "skill-untrusted"), ...findings],
      fetched,
      path: relative(fetched.directory, report.directory).split(sep).join("/"),
      ...(owner !== undefined && { plugin: owner.plugin.name }),
    };
  });
}

/** A source says what is in it, and nothing else of this machine. Links within it are followed. */
function checkInside(directory: string, root: string, source: string): void {
  if (isInside(directory, root)) return;
  const reason = "is behind a link that leads out of the source; import that folder itself if it is meant";
  throw new KitbagError("import-refused", { source, entry: directory, reason });
}

/** In a source nothing goes before anything else: of two skills with one name, each is read for itself. */
async function unshadow(report: SkillReport, memory: SkillMemory): Promise<SkillReport> {
  if (!report.diagnostics.some(({ code }) => code === "skill-shadowed")) return report;
  const { reports } = await loadSkills({ directories: [report.directory], trust: trustNothing, memory });
  return reports.find(({ directory }) => directory === report.directory) ?? report;
}

/** The folders that a plugin has skills in: those that it names, its `skills`, and itself if it is a skill. */
function findFolders(root: string, plugin: ListedPlugin, shown: string): string[] {
  if (!("folder" in plugin.place)) return [];
  const directory = join(root, plugin.place.folder);
  const own = readPlugin(directory, shown);
  const named = [...plugin.skills, ...(own?.skills ?? [])].map((folder) => join(directory, folder));
  if (plugin.isComplete && named.length > 0) return named;
  const usual = ["skills", "SKILL.md"].map((name) => join(directory, name)).filter((path) => existsSync(path));
  const found = [...named, ...usual.map((path) => (basename(path) === "SKILL.md" ? directory : path))];
  return found.length > 0 ? found : [directory];
}
