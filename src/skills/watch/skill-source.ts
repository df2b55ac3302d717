import { basename, dirname, join } from "node:path";

import { skillRoots } from "../discovery/skill-roots.ts";
import { isInside } from "../folder/is-inside.ts";
import { toRealPath } from "../folder/to-real-path.ts";
import { openFactsCache } from "../load/facts-cache.ts";
import { loadSkills, type LoadedSkills, type LoadSkillsOptions } from "../load/load-skills.ts";
import { createLightMemory, type SkillMemory } from "../load/skill-memory.ts";
import type { CollectOptions } from "./collect-hints.ts";
import { createStandbyPython, type StandbyPython } from "./standby-python.ts";
import { watchFolders } from "./watch-folders.ts";

/** Who starts waits for the skills, not for what reads a script that is saved later. */
const prepareMs = 500;

/** What a source reads, and what else it depends on. */
export interface SkillSourceOptions extends LoadSkillsOptions, CollectOptions {
  /** Other files that decide about skills. The list of what is trusted (`trust.path`) and the lock are watched anyway. */
  readonly watchFiles?: readonly string[];
}

/** Skill folders that may change at any time. */
export interface SkillSource {
  /** Reads what is there now; only folders that changed are read again. A skill that did not change is the same object. */
  load(): Promise<LoadedSkills>;
  /**
   * Calls `onLoad` with what is there now, and again after each change, one call after the other. Nothing that happens after this
   * was called is missed. Resolves after the first call, or rejects with what it threw.
   */
  watch(onLoad: (loaded: LoadedSkills) => Promise<void> | void): Promise<SkillWatch>;
}

/** A watch that is going on. */
export interface SkillWatch {
  /** Ends it; resolves when nothing of it is running any more. */
  close(): Promise<void>;
}

/** Makes a source for the folders that `options` names. */
export function createSkillSource(options: SkillSourceOptions): SkillSource {
  const cache = options.cache ?? openFactsCache(options.cacheFile);
  const memory = createLightMemory(cache);
  const roots = skillRoots(options);
  const decisive = [options.trust?.path, options.lock?.path].filter((path) => path !== undefined);
  const files = [...(options.watchFiles ?? []), ...decisive];
  let folders: readonly string[] = roots;
  /** While somebody watches, a script that is saved is read at once. */
  let python: StandbyPython | undefined;

  async function load(): Promise<LoadedSkills> {
    const loaded = await loadSkills({ ...options, memory, cache, ...(python && { pythonReader: python }) });
    const directories = loaded.reports.map((report) => report.directory);
    memory.settle(directories);
    if (loaded.reports.some(({ scripts }) => scripts.some(({ language }) => language === "python")))
      setTimeout(() => python?.prepare(), prepareMs).unref();
    // A link can lead to a folder that no root contains; it is watched by itself.
    const realRoots = roots.map(toRealPath);
    folders = [...roots, ...directories.filter((directory) => !realRoots.some((root) => isInside(directory, root)))];
    return loaded;
  }

  return {
    load,
    async watch(onLoad) {
      memory.forgetAll();
      python ??= options.pythonReader === undefined ? createStandbyPython() : undefined;
      const watching = startWatch({ load, onLoad, memory, folders: () => folders, files }, options);
      const close = async (): Promise<void> => {
        await watching.close();
        await python?.close();
        python = undefined;
        cache.save();
      };
      try {
        await watching.first;
      } catch (cause) {
        await close();
        throw cause;
      }
      cache.save();
      return { close };
    },
  };
}

interface WatchParts {
  load(): Promise<LoadedSkills>;
  onLoad(loaded: LoadedSkills): Promise<void> | void;
  readonly memory: SkillMemory;
  /** What has to be watched, as far as is known now. */
  folders(): readonly string[];
  readonly files: readonly string[];
}

/** Looks at the disk now and after each change, one look after the other. */
function startWatch(
  { load, onLoad, memory, folders, files }: WatchParts,
  options: CollectOptions,
): SkillWatch & { readonly first: Promise<void> } {
  let isClosed = false;
  const watcher = watchFolders((paths) => {
    if (paths.length === 0) memory.forgetAll();
    lookAgain(paths);
  }, options);
  const first = look([]);
  let turn = first.catch(() => {});

  function lookAgain(paths: readonly string[]): void {
    turn = turn.then(() => look(paths)).catch(warn);
  }

  async function look(paths: readonly string[]): Promise<void> {
    if (isClosed) return;
    // The watch comes before the reading: what happens meanwhile is seen by one of both.
    memory.forget([...paths, ...watcher.setFolders(folders(), files)].flatMap(toRealPaths));
    const loaded = await load();
    if (isClosed) return;
    const late = watcher.setFolders(folders(), files);
    if (late.length > 0) lookAgain(late);
    await onLoad(loaded);
  }

  return {
    first,
    async close() {
      isClosed = true;
      watcher.close();
      await turn;
    },
  };
}

function warn(cause: unknown): void {
  process.emitWarning(`Cannot follow a change of skills: ${cause instanceof Error ? cause.message : String(cause)}`, {
    type: "KitbagWarning",
  });
}

/** A link is where it stands, and where it leads to. */
function toRealPaths(path: string): string[] {
  return [join(toRealPath(dirname(path)), basename(path)), toRealPath(path)];
}
