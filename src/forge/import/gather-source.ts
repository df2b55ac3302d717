import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Fetched, FetchOptions } from "./fetched.ts";
import { fetchSource } from "./fetch-source.ts";
import { gatherSkills, type GatheredSkill } from "./gather-skills.ts";
import { showSource, type ImportSource } from "./import-source.ts";
import { readPlugins, type ListedPlugin, type PluginCatalog } from "./read-plugins.ts";

/** A source with everything that was found in it. Whoever has it disposes of it. */
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
      throw failed(
        shown,
        `it has no plugin ${JSON.stringify(name)}; ${cure === "" ? "it has none" : `it has ${cure}`}`,
      );
    }
    if ("problem" in found.place)
      throw failed(shown, `the plugin ${JSON.stringify(name)} cannot be fetched: ${found.place.problem}`);
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

function failed(source: string, reason: string): KitbagError {
  return new KitbagError("import-failed", { source, reason });
}
