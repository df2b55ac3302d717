import { existsSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { importFailed, type Fetched, type FetchOptions } from "./fetched.ts";
import { fetchSource } from "./fetch-source.ts";
import { showSource, type ImportSource } from "./import-source.ts";
import { readPlugins, type ListedPlugin, type PluginCatalog, readPlugin } from "./read-plugins.ts";
import { isInside } from "../../platform/paths.ts";
import { findLeftOut } from "../../skills/discovery/find-left-out.ts";
import { createSkillMemory } from "../../skills/load/skill-memory.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { SkippedFolder } from "./import-candidate.ts";
import { scanSkill } from "../../skills/scan/scan-skill.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { loadSkills } from "../../workspace/skills/folder-skills.ts";
import { trustNothing } from "./open-project.ts";

/** A source with everything that was found in it. The caller disposes of it. */
export interface GatheredSource {
  readonly fetched: Fetched;
  readonly catalog: PluginCatalog;
  readonly skills: readonly GatheredSkill[];
  /** Folders with a SKILL.md that is no skill of its own, or that cannot be taken. */
  readonly leftOut: readonly SkippedFolder[];
  readonly notes: readonly string[];
  dispose(): void;
}

/**
 * Fetches a source and finds the skills in it. Of a marketplace, those of its own folders; a plugin that is elsewhere is fetched only
 * if it is picked by name. A marketplace that leads to no skill, or that cannot be read, is a note: the source is searched instead.
 *
 * @throws {KitbagError} what `fetchSource` throws; `import-failed` if a plugin is picked and is not there, or its files are broken;
 *   `import-refused` if all there is lies behind links that lead out.
 */
export async function gatherSource(
  source: ImportSource,
  picked: readonly string[] | undefined,
  options: FetchOptions & { readonly skills?: readonly string[] | "all" },
): Promise<GatheredSource> {
  const all = [await fetchSource(source, options)] as [Fetched, ...Fetched[]];
  const dispose = (): void => {
    for (const one of all) one.dispose();
  };
  try {
    const named = options.skills === "all" ? [] : options.skills;
    const gathered = picked === undefined ? await gatherAll(all[0], named) : await gatherPicked(all, picked, options);
    return { ...gathered, fetched: all[0], dispose };
  } catch (cause) {
    dispose();
    throw cause;
  }
}

type Gathered = Omit<GatheredSource, "fetched" | "dispose">;

/** Of plugins that are picked, what is broken is an error: guessing what it means would import something else. */
async function gatherPicked(
  all: [Fetched, ...Fetched[]],
  picked: readonly string[],
  options: FetchOptions,
): Promise<Gathered> {
  const [fetched] = all;
  const shown = showSource(fetched.source);
  const catalog = readPlugins(fetched.directory, shown);
  const plugins = pickPlugins(catalog, picked, shown);
  const here = plugins.filter(({ place }) => "folder" in place);
  const { skills: found, leftOut } = await gatherSkills(
    fetched,
    here.map((plugin) => ({ plugin, folders: findFolders(fetched.directory, plugin, shown) })),
  );
  const skills = [...found];
  for (const plugin of plugins) {
    if (!("source" in plugin.place)) continue;
    const other = await fetchSource(plugin.place.source, options);
    all.push(other);
    const place = { ...plugin, place: { folder: "" } };
    const folders = findFolders(other.directory, place, showSource(other.source));
    skills.push(...(await gatherSkills(other, [{ plugin: place, folders }])).skills);
  }
  return { catalog, skills, leftOut, notes: toNotes(all, plugins) };
}

/** What is broken is told, and the rest is listed. Skills that are `named` are found also if no plugin lists them. */
async function gatherAll(fetched: Fetched, named: readonly string[] = []): Promise<Gathered> {
  const shown = showSource(fetched.source);
  const notes: string[] = [];
  const attempt = <Value>(work: () => Value, otherwise: Value): Value => {
    try {
      return work();
    } catch (cause) {
      if (!isKitbagError(cause, "import-failed")) throw cause;
      notes.push(cause.details.reason);
      return otherwise;
    }
  };
  const catalog = attempt(() => readPlugins(fetched.directory, shown), { plugins: [] });
  const groups = catalog.plugins
    .filter(({ place }) => "folder" in place)
    .map((plugin) => ({ plugin, folders: attempt(() => findFolders(fetched.directory, plugin, shown), []) }));
  let found = await gatherSkills(fetched, groups);
  if (!found.skills.some(({ report }) => report.skill !== undefined)) {
    found = await gatherSkills(fetched, undefined);
    if (groups.length > 0 && found.skills.length > 0)
      notes.push("its marketplace leads to no skill, so all of its folders were searched");
  }
  let { skills } = found;
  const { leftOut } = found;
  let rest = findRest(fetched, skills);
  const unlisted = rest.unlisted.filter((folder) => named.includes(basename(folder)));
  if (unlisted.length > 0) {
    skills = [...skills, ...(await gatherSkills(fetched, undefined, unlisted)).skills];
    rest = findRest(fetched, skills);
  }
  if (rest.unlisted.length > 0) notes.push(noPlugin(rest.unlisted, shown));
  return {
    catalog,
    skills,
    leftOut: [...leftOut, ...rest.leftOut],
    notes: [...toNotes([fetched], catalog.plugins), ...notes.slice(0, mostNotes)],
  };
}

/** Says where the skills are that no plugin lists, and how to add one. */
function noPlugin(folders: readonly string[], shown: string): string {
  const [first = ""] = folders;
  const more = folders.length > 3 ? ", …" : "";
  const count = folders.length === 1 ? "1 skill is" : `${folders.length} skills are`;
  return `${count} in no plugin of it: ${folders.slice(0, 3).join(", ")}${more}; to add one, name it with --skill, or its folder: ${shown}#:${first}`;
}

/** Every SKILL.md of the source that is not among `skills`: parts of them, and those that no plugin lists. */
function findRest(
  { directory }: Fetched,
  skills: readonly GatheredSkill[],
): { readonly leftOut: readonly SkippedFolder[]; readonly unlisted: readonly string[] } {
  const known = new Set(skills.map(({ report }) => report.directory));
  const { leftOut } = findLeftOut({ directories: [directory] }, known);
  const isUnlisted = ({ diagnostic }: (typeof leftOut)[number]): boolean => diagnostic.code === "skill-unreached";
  const toFolder = ({ path, diagnostic }: (typeof leftOut)[number]): SkippedFolder =>
    toSkippedFolder(directory, path, diagnostic.message);
  return {
    leftOut: leftOut.filter((one) => !isUnlisted(one)).map(toFolder),
    unlisted: leftOut.filter(isUnlisted).map((one) => toFolder(one).path),
  };
}

function toSkippedFolder(root: string, path: string, reason: string): SkippedFolder {
  return { name: basename(path), path: toInner(root, path), reason };
}

function toInner(root: string, path: string): string {
  return relative(root, path).split(sep).join("/");
}

function pickPlugins({ plugins }: PluginCatalog, picked: readonly string[], shown: string): ListedPlugin[] {
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

/** A plugin and the folders in which its skills are. */
interface PluginFolders {
  readonly plugin: ListedPlugin;
  readonly folders: readonly string[];
}

/**
 * Finds and reads the skills of some plugins of a source, or of its folders that are `searched`. Runs nothing. In a source no skill goes before
 * another. A source says what is in it, and nothing else of this machine: what is behind a link that leads out is left out.
 *
 * @throws {KitbagError} `import-refused` if all there is lies behind links that lead out.
 */
async function gatherSkills(
  fetched: Fetched,
  groups: readonly PluginFolders[] | undefined,
  searched: readonly string[] = [""],
): Promise<Pick<GatheredSource, "skills" | "leftOut">> {
  const root = fetched.directory;
  const directories =
    groups === undefined
      ? searched.map((folder) => join(root, folder))
      : [...new Set(groups.flatMap(({ folders }) => folders))];
  // The bytes that were read are the bytes that are scanned, shown and copied.
  const memory = createSkillMemory();
  const { reports } = await loadSkills({ directories, trust: trustNothing, memory, keepsDuplicates: true });
  const [inside, outside] = [true, false].map((is) =>
    reports.filter(({ directory }) => isInside(directory, root) === is),
  ) as [SkillReport[], SkillReport[]];
  const reason = "is behind a link that leads out of the source; import that folder itself if it is meant";
  const [refused] = inside.length === 0 ? outside : [];
  if (refused !== undefined)
    throw new KitbagError("import-refused", { source: showSource(fetched.source), entry: refused.directory, reason });
  const skills = inside.map((report): GatheredSkill => {
    const owner = groups?.find(({ folders }) => folders.some((folder) => isInside(report.directory, folder)));
    const findings = scanSkill(memory.read(report.directory).snapshot);
    return {
      report,
      // That it is not trusted yet is why it is shown.
      diagnostics: [...report.diagnostics.filter(({ code }) => code !== "skill-untrusted"), ...findings],
      fetched,
      path: toInner(root, report.directory),
      ...(owner !== undefined && { plugin: owner.plugin.name }),
    };
  });
  return { skills, leftOut: outside.map(({ path }) => toSkippedFolder(root, path, `it ${reason}`)) };
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
