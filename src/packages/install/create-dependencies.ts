/**
 * Packages of scripts, and compilers of WASM tools. This folder may import `sandbox`, `platform` and `core`. Start reading here for
 * packages (`install/`), and in `build/build-tool.ts` for compilers.
 */
import { untilAborted } from "../../core/async.ts";
import { isKitbagError } from "../../core/errors.ts";
import { takeFileLock } from "../../platform/file-lock.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { dependencyFailed, type DependencyFailure, explainSystem } from "./dependency-failure.ts";
import {
  type DependencyProgress,
  type DependencyRequest,
  type PreparedDependencies,
  isNothingNeeded,
  namesOf,
  withImported,
} from "./dependency-request.ts";
import type { Installer, InstallPlace } from "./run-step.ts";
import { nodeInstaller } from "./node/node-installer.ts";
import { openIndex } from "./open-index.ts";
import { digestOf, type Lock, openPackageCache, type PackageCache } from "./package-cache.ts";
import { identifySource, type PackageIndex, toSource } from "./package-source.ts";
import { pythonInstaller } from "./python/python-installer.ts";
import { rustInstaller } from "./rust/rust-installer.ts";

/** How packages are installed. */
export interface DependenciesOptions {
  /** Where the installers run. */
  readonly sandbox: Sandbox;
  /** Where locks and packages are kept: Kitbag's home, absolute. */
  readonly home: string;
  readonly index?: PackageIndex;
  /** A folder of wheels and npm tarballs to use instead of the index; then there is no network at all. */
  readonly wheelhouse?: string;
  /** Use only what is installed already, and the wheelhouse. @default false */
  readonly offline?: boolean;
  /** Packages that may run code of their own while they are installed, in the sandbox. @default none */
  readonly allowInstallScripts?: readonly string[];
  /** Must not throw. */
  readonly onProgress?: (progress: DependencyProgress) => void;
  /** How long one install may take. @default 600000 */
  readonly limitMs?: number;
  /** How much one install may write. @default 2147483648 */
  readonly maxBytes?: number;
}

/** Installs what scripts need. */
export interface Dependencies {
  /**
   * Makes sure that packages are installed, and says how a sandbox gets them. Installs of the same happen once, also when several
   * processes ask; one that fails or is aborted leaves nothing behind. If not all can be installed, those that the script imports are.
   *
   * @throws {KitbagError} `dependency-failed` if they cannot be installed.
   */
  prepare(request: DependencyRequest, signal?: AbortSignal): Promise<PreparedDependencies>;
}

const defaultLimitMs = 10 * 60 * 1000;
const defaultMaxBytes = 2 * 1024 * 1024 * 1024;

/** Makes what installs the packages of scripts, each set once, into directories that are mounted read-only. */
export function createDependencies(options: DependenciesOptions): Dependencies {
  const share = shareWork<PreparedDependencies>();
  const cache = openPackageCache(options.home);
  const python = pythonInstaller(options.sandbox, cache);
  const granted = (options.allowInstallScripts ?? []).toSorted();

  async function findInstaller(request: DependencyRequest, signal: AbortSignal): Promise<Installer | undefined> {
    if (isNothingNeeded(request)) return undefined;
    switch (request.language) {
      case "python":
        return python(request, signal);
      case "node":
        return nodeInstaller(request);
      case "rust":
        return rustInstaller(request);
    }
  }

  async function prepareOnce(request: DependencyRequest, signal: AbortSignal): Promise<PreparedDependencies> {
    const installer = await findInstaller(request, signal);
    if (installer === undefined) return nothing;
    const { language } = request;
    // A Cargo.lock names the bytes of each crate, wherever they come from.
    const from = language === "rust" ? undefined : identifySource(language, options);
    const key = digestOf([language, installer.lockedBy, granted, from]).slice(0, 32);
    const job: Job = { options, cache, installer, language, key, granted, from, names: namesOf(request) };
    const found = await findInstalled(job);
    if (found !== undefined) return found;
    const onWait = (): void => options.onProgress?.({ language, step: "wait" });
    const release = await takeFileLock(cache.lockPath(key), { signal, onWait });
    try {
      return (await findInstalled(job)) ?? (await install(job, signal));
    } finally {
      release();
    }
  }

  const prepare: Dependencies["prepare"] = async (request, signal) =>
    share(
      digestOf({ ...request, imported: undefined }),
      (stop) => explained(request, () => prepareOnce(request, stop)),
      signal,
    );
  return { prepare: (request, signal) => prepareImported(prepare, request, signal) };
}

/** Prepares all packages; if that fails, those alone that the script imports. */
async function prepareImported(
  prepare: Dependencies["prepare"],
  request: DependencyRequest,
  signal: AbortSignal | undefined,
): Promise<PreparedDependencies> {
  try {
    return await prepare(request, signal);
  } catch (cause) {
    const less = isKitbagError(cause, "dependency-failed") ? withImported(request) : undefined;
    if (less === undefined) throw cause;
    return prepare(less, signal);
  }
}

const nothing: PreparedDependencies = { mounts: [], environment: {} };

interface Job {
  readonly options: DependenciesOptions;
  readonly cache: PackageCache;
  readonly installer: Installer;
  readonly language: DependencyRequest["language"];
  readonly key: string;
  readonly granted: readonly string[];
  /** What tells the source of the packages from others. */
  readonly from: readonly unknown[] | undefined;
  /** Of the packages. */
  readonly names: readonly string[];
}

async function findInstalled(job: Job): Promise<PreparedDependencies | undefined> {
  const lock = await readLock(job);
  const directory = lock === undefined ? undefined : await job.cache.find(digestFor(job, lock));
  return lock === undefined || directory === undefined ? undefined : toPrepared(job, lock, directory);
}

function digestFor({ installer, granted, from }: Job, lock: Lock): string {
  return digestOf([lock.language, installer.platform, granted, lock.packages, lock.installer ?? null, from]);
}

function toPrepared(job: Job, { packages }: Lock, directory: string): PreparedDependencies {
  const { cache, installer, key, options } = job;
  const { mounts, environment } = installer.toPrepared(directory);
  // Without a sandbox there are no mounts: packages are where they were installed.
  const places =
    options.sandbox.keepsPaths === true ? new Map(mounts.map(({ target, source }) => [target, source])) : undefined;
  const entries = Object.entries(environment).map(([name, value]) => [name, places?.get(value) ?? value]);
  return {
    mounts,
    environment: Object.fromEntries(entries) as Record<string, string>,
    lock: { file: cache.lockFile(key), packages },
  };
}

async function readLock({ cache, key, language }: Job): Promise<Lock | undefined> {
  try {
    return await cache.readLock(key);
  } catch {
    const reason = `the lock ${cache.lockFile(key)} cannot be read`;
    throw dependencyFailed(language, { problem: "lock", reason, cure: "delete it, or take it from where it is whole" });
  }
}

async function install(job: Job, signal: AbortSignal): Promise<PreparedDependencies> {
  const { options, cache, installer, language, key, granted } = job;
  const { sandbox, onProgress, limitMs = defaultLimitMs, maxBytes = defaultMaxBytes } = options;
  const lock = await readLock(job);
  const source = toSource(language, options);
  if (source.kind === "nothing") throw dependencyFailed(language, toOffline(job));
  const limit = AbortSignal.timeout(limitMs);
  const place = await cache.makeWork(key);
  const route = source.kind === "index" ? await openIndex(sandbox, { hosts: source.hosts, maxBytes }) : undefined;
  try {
    const { work, told } = place;
    const [root, toldInside] = sandbox.keepsPaths === true ? [work, told] : ["/work", "/opt/told"];
    const bench = { sandbox, work, root, told, toldInside, maxBytes, signal: AbortSignal.any([signal, limit]) };
    const report: InstallPlace["onProgress"] = (progress) => onProgress?.({ language, ...progress });
    const made = await installer.install({ bench, source, route, granted, onProgress: report }, lock);
    const directory = await cache.keep(digestFor(job, made), place);
    if (directory === undefined) throw dependencyFailed(language, linked);
    if (lock === undefined) await cache.writeLock(key, made);
    report({ step: "ready" });
    return toPrepared(job, made, directory);
  } catch (cause) {
    if (limit.aborted && !signal.aborted) throw dependencyFailed(language, tooSlow(limitMs, route?.refused() ?? []));
    throw cause;
  } finally {
    await route?.close();
    await place.remove();
  }
}

const linked: DependencyFailure = {
  problem: "broken",
  reason: "code of a package that was granted install scripts has put a link where the packages should be",
  cure: "take the grant away: packages do this only to attack",
};

function toOffline({ names }: Job): DependencyFailure {
  const [first = "", ...others] = names;
  const cure = "run once with a network, or give a folder of packages (KITBAG_WHEELHOUSE, or wheelhouse in a program)";
  if (others.length === 0)
    return { problem: "offline", package: first, reason: "it is not installed yet, and there is no network", cure };
  return { problem: "offline", reason: `${names.join(", ")} are not all installed yet, and there is no network`, cure };
}

function tooSlow(limitMs: number, refused: readonly string[]): DependencyFailure {
  const reason = `it was not done after ${limitMs} ms${refused.length === 0 ? "" : `; it wanted to reach ${refused.join(", ")}`}`;
  return { problem: "timeout", reason, cure: "check the package index, or raise installLimits.limitMs" };
}

/** Runs it; a file operation that fails for a reason we know is told in words. */
async function explained<Result>({ language }: DependencyRequest, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    const failure = explainSystem(cause);
    throw failure === undefined ? cause : dependencyFailed(language, failure);
  }
}

interface Shared<Result> {
  readonly result: Promise<Result>;
  readonly stop: AbortController;
  waiting: number;
}

/** Does the work of one key once for all who ask at the same time; it is stopped when the last of them has gone. */
type ShareWork<Result> = (
  key: string,
  work: (signal: AbortSignal) => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>;

/** Makes what shares work. Nothing is kept: a later request does the work again. */
export function shareWork<Result>(): ShareWork<Result> {
  const running = new Map<string, Shared<Result>>();

  function start(key: string, work: (signal: AbortSignal) => Promise<Result>): Shared<Result> {
    const stop = new AbortController();
    const shared: Shared<Result> = { result: work(stop.signal), stop, waiting: 0 };
    running.set(key, shared);
    const forget = (): void => {
      if (running.get(key) === shared) running.delete(key);
    };
    shared.result.then(forget, forget);
    return shared;
  }

  return async (key, work, signal) => {
    signal?.throwIfAborted();
    const shared = running.get(key) ?? start(key, work);
    shared.waiting++;
    try {
      return await untilAborted(shared.result, signal);
    } finally {
      shared.waiting--;
      if (signal?.aborted === true && shared.waiting === 0) {
        // A later request must not get what is being stopped.
        if (running.get(key) === shared) running.delete(key);
        shared.stop.abort(signal.reason);
        await shared.result.catch(() => {});
      }
    }
  };
}
