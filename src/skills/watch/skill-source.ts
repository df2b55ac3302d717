import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { skillRoots } from "../discovery/skill-roots.ts";
import { isInside } from "../folder/is-inside.ts";
import { openFactsCache } from "../load/facts-cache.ts";
import { createFolderMemory } from "../load/folder-memory.ts";
import { loadSkills, type LoadedSkills, type LoadSkillsOptions } from "../load/load-skills.ts";
import { watchFolders } from "./watch-folders.ts";

/** Skill folders that may change at any time. */
export interface SkillSource {
  /** Reads what is there now; only folders that changed are read again. */
  load(): Promise<LoadedSkills>;
  /** Calls `onChange` after each change with what is there then, one after the other; answers with the function that ends it. */
  watch(onChange: (loaded: LoadedSkills) => Promise<void> | void): () => void;
}

/** Makes a source for the folders that `options` names. */
export function createSkillSource(options: LoadSkillsOptions): SkillSource {
  const memory = createFolderMemory();
  const cache = options.cache ?? openFactsCache(options.cacheFile);
  const roots = skillRoots(options);
  let folders: readonly string[] = roots;

  async function load(): Promise<LoadedSkills> {
    const loaded = await loadSkills({ ...options, memory, cache });
    // A link can lead to a folder that no root contains; it is watched by itself.
    const linked = loaded.reports.flatMap((report) => report.directory ?? []);
    folders = [...roots, ...linked.filter((directory) => !roots.some((root) => isInside(directory, toReal(root))))];
    return loaded;
  }

  return {
    load,
    watch(onChange) {
      let turn: Promise<void> = Promise.resolve();
      let closed = false;
      const look = async (paths: readonly string[]): Promise<void> => {
        if (closed) return;
        memory.forget(paths.map(toReal));
        const loaded = await load();
        if (closed) return;
        watcher.setFolders(folders);
        await onChange(loaded);
      };
      const watcher = watchFolders((paths) => {
        turn = turn.then(() => look(paths));
      });
      watcher.setFolders(folders);
      return () => {
        closed = true;
        watcher.close();
      };
    },
  };
}

/** Resolves links in the part of a path that is there; the rest may just have been deleted. */
function toReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(toReal(parent), basename(path));
  }
}
