import { basename, dirname, join, resolve } from "node:path";

import { type FindOptions, homeFolders, projectFolders } from "../discovery/find-skills.ts";
import { isInside, toRealPath } from "../../platform/paths.ts";
import { openFactsCache } from "../load/facts-cache.ts";
import { type LoadedSkills, loadSkills, type LoadSkillsOptions } from "../load/load-skills.ts";
import { createLightMemory, type SkillMemory } from "../load/skill-memory.ts";
import { type PythonProcess, startPython } from "../scripts/python/python-process.ts";
import { createPythonReader, largestPythonSource, type PythonReader } from "../scripts/python/python-reader.ts";
import type { CollectOptions } from "./collect-hints.ts";
import { watchFolders } from "./watch-folders.ts";

/** How long after a load the standby interpreter starts, so that it does not slow down the start of the program. */
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
  const cache = options.cache ?? openFactsCache(options.cacheFolder);
  const memory = createLightMemory(cache);
  const roots = skillRoots(options);
  const decisive = [options.trust?.path, options.lock?.path].filter((path) => path !== undefined);
  const files = [...(options.watchFiles ?? []), ...decisive];
  let folders: readonly string[] = roots;
  /** While the folder is watched, a script that is saved is read at once. */
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

/** The folders that {@link findSkills} looks into, whether they are there or not: what has to be watched. */
export function skillRoots(options: FindOptions): readonly string[] {
  return [
    ...(options.directories ?? []).map((directory) => resolve(directory)),
    ...projectFolders(options.workingDirectory, options.homeDirectory),
    ...homeFolders(options.homeDirectory),
  ];
}

/** A Python reader that keeps an interpreter running, so that a saved script is read without waiting for one to start. */
export interface StandbyPython extends PythonReader {
  /** Starts the interpreter if it is not running. */
  prepare(): void;
}

/** More files than these are not one save, and are read by as many helpers as that is worth. */
const mostAtOnce = 16;

const limitMs = 10_000;

/** Makes a reader. The helper is started by {@link StandbyPython.prepare} alone; without it, files are read as otherwise. */
export function createStandbyPython(): StandbyPython {
  const readOtherwise = createSharedReader();
  let helper: PythonProcess | undefined;
  let asked = 0;
  let isClosed = false;

  async function readWith(
    process: PythonProcess,
    ...[source, modules]: Parameters<PythonReader["read"]>
  ): ReturnType<PythonReader["read"]> {
    asked += 1;
    const answer = await process.ask(source, modules);
    asked -= 1;
    if (answer.ok !== "lost") return answer;
    // It may have ended for any reason; a new one says what is wrong with this file.
    if (helper === process) helper = undefined;
    return readOtherwise(source, modules);
  }

  return {
    prepare() {
      if (!isClosed) helper ??= startPython({ command: ["python3"], limitMs });
    },
    read(source, modules) {
      const isForHelper = helper !== undefined && asked < mostAtOnce && source.length <= largestPythonSource;
      return isForHelper ? readWith(helper as PythonProcess, source, modules) : readOtherwise(source, modules);
    },
    async close() {
      isClosed = true;
      helper?.kill();
      helper = undefined;
    },
  };
}

/** One reader for all files that are asked for in one turn: it ends its helpers when it has nothing more to do. */
function createSharedReader(): PythonReader["read"] {
  let current: PythonReader | undefined;
  return (source, modules) => {
    if (current === undefined) {
      current = createPythonReader({ limitMs });
      setImmediate(() => {
        current = undefined;
      });
    }
    return current.read(source, modules);
  };
}
