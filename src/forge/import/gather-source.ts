import { existsSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { importFailed, type Fetched, type FetchOptions } from "./fetched.ts";
import { fetchSource } from "./fetch-source.ts";
import { showSource, type ImportSource } from "./import-source.ts";
import { readPlugins, type ListedPlugin, type PluginCatalog, readPlugin } from "./read-plugins.ts";
import { isInside } from "../../platform/paths.ts";
import { createSkillMemory, type SkillMemory } from "../../skills/load/skill-memory.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { scanSkill } from "../../skills/scan/scan-skill.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { loadSkills } from "../../workspace/skills/folder-skills.ts";
import { trustNothing } from "./open-project.ts";

/** A source with everything that was found in it. The caller disposes of it. */
export interface GatheredSource {
  readonly fetched: Fetched;
  readonly catalog: PluginCatalog;
  readonly skills: readonly GatheredSkill[];
  readonly notes: readonly string[];
  dispose(): void;
}

/**
 * Fetches a source and finds the skills in it. Of a marketplace, those of its own folders; a plugin that is elsewhere is fetched only
 * if it is picked by name.
 *
 * @throws {KitbagError} what `fetchSource` throws; `import-failed` if there is no such plugin.
 */
export async function gatherSource(
  source: ImportSource,
  picked: readonly string[] | undefined,
  options: FetchOptions,
): Promise<GatheredSource> {
  const shown = showSource(source);
  const fetched = await fetchSource(source, options);
  const all = [fetched];
  const dispose = (): void => {
    for (const one of all) one.dispose();
  };
  try {
    const catalog = readPlugins(fetched.directory, shown);
    const plugins = pickPlugins(catalog, picked, shown);
    const here = plugins.filter(({ place }) => "folder" in place);
    const isEverything = catalog.plugins.length === 0;
    const skills = isEverything || here.length > 0 ? [...(await gatherSkills(fetched, here, shown))] : [];
    for (const plugin of picked === undefined ? [] : plugins) {
      if (!("source" in plugin.place)) continue;
      const other = await fetchSource(plugin.place.source, options);
      all.push(other);
      skills.push(...(await gatherSkills(other, [{ ...plugin, place: { folder: "" } }], showSource(other.source))));
    }
    return { fetched, catalog, skills, notes: toNotes(all, plugins), dispose };
  } catch (cause) {
    dispose();
    throw cause;
  }
}

function pickPlugins({ plugins }: PluginCatalog, picked: readonly string[] | undefined, shown: string): ListedPlugin[] {
  if (picked === undefined) return [...plugins];
  return picked.map((name) => {
    const found = plugins.find((plugin) => plugin.name === name);
    if (found === undefined) {
      const names = plugins.map((plugin) => plugin.name);
      const near = nearestNames(name, names, 3);
      const cure = (near.length > 0 ? near : names.slice(0, 8)).map((one) => JSON.stringify(one)).join(", ");
      throw importFailed(
        shown,
        `it has no plugin ${JSON.stringify(name)}; ${cure === "" ? "it has none" : `it has ${cure}`}`,
      );
    }
    if ("problem" in found.place)
      throw importFailed(shown, `the plugin ${JSON.stringify(name)} cannot be fetched: ${found.place.problem}`);
    return found;
  });
}

function toNotes(all: readonly Fetched[], plugins: readonly ListedPlugin[]): string[] {
  const notes = all.flatMap((fetched) => fetched.notes);
  const more = notes.length > mostNotes ? [`… and ${notes.length - mostNotes} more`] : [];
  const others = plugins
    .filter((plugin) => plugin.others.length > 0)
    .map(
      ({ name, others }) =>
        `the plugin ${JSON.stringify(name)} also has ${others.join(", ")}: only skills are imported`,
    );
  return [...notes.slice(0, mostNotes), ...more, ...others];
}

const mostNotes = 20;

/** A skill of a source, or the reason why it cannot be used. */
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
async function gatherSkills(
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
