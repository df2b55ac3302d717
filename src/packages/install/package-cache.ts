import { createHash, randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { syncFolder, writeFileAtomically } from "../../platform/files.ts";
import { makeHomeFolder } from "../../platform/home.ts";
import type { LockedPackage } from "./dependency-request.ts";

/** What was resolved, as it is kept: all that is needed to install the same again. */
export interface Lock {
  readonly format: 1;
  readonly language: string;
  /** Where the packages run; empty if the lock is for all platforms. */
  readonly platform: string;
  readonly packages: readonly LockedPackage[];
  /** What the installer itself wrote, where it has a format of its own. */
  readonly installer?: unknown;
}

/** The directories of one install. */
export interface Work {
  /** What programs inside write to. */
  readonly work: string;
  /** What they are told. */
  readonly told: string;
  remove(): Promise<void>;
}

/** What an interpreter said about itself. */
export interface InterpreterFacts {
  readonly platform: string;
  readonly version: string;
}

const day = 24 * 60 * 60 * 1000;

/** The packages and locks under one home directory. */
export interface PackageCache {
  /** Where installs of `key` are locked against other processes. */
  lockPath(key: string): string;
  lockFile(key: string): string;
  /** The lock of a request; undefined if it does not exist. */
  readLock(key: string): Promise<Lock | undefined>;
  writeLock(key: string, lock: Lock): Promise<void>;
  /** What an interpreter said about itself; undefined if it was not asked. */
  readFacts(key: string): Promise<InterpreterFacts | undefined>;
  writeFacts(key: string, facts: InterpreterFacts): Promise<void>;
  /** The directory of installed packages; undefined if they are not installed. */
  find(digest: string): Promise<string | undefined>;
  /** Empty directories to install in. The caller holds the lock of `key`, so what was left there by others is removed. */
  makeWork(key: string): Promise<Work>;
  /**
   * Makes what was installed in `work` the packages of `digest`, all at once; answers with their directory. Undefined if they are
   * not really there: a package's own code may have put a link in their place.
   */
  keep(digest: string, work: Work): Promise<string | undefined>;
}

/** Opens the packages of a home directory; nothing is made before it is needed. */
export function openPackageCache(home: string): PackageCache {
  const packages = join(home, "packages");
  const locks = join(home, "locks");
  const cache: PackageCache = {
    lockPath: (key) => join(packages, `installing-${key}.lock`),
    lockFile: (key) => join(locks, `${key}.json`),
    async readLock(key) {
      const text = await readFile(cache.lockFile(key), "utf8").catch(() => undefined);
      return text === undefined ? undefined : checkLock(JSON.parse(text));
    },
    async writeLock(key, lock) {
      makeHomeFolder(locks, home);
      writeFileAtomically(cache.lockFile(key), `${JSON.stringify(lock, undefined, 2)}\n`);
    },
    async readFacts(key) {
      const text = await readFile(join(packages, `interpreter-${key}.json`), "utf8").catch(() => "null");
      const facts = parseOrNull(text) as Partial<InterpreterFacts> | null;
      if (typeof facts?.platform !== "string" || typeof facts.version !== "string") return undefined;
      return { platform: facts.platform, version: facts.version };
    },
    async writeFacts(key, { platform, version }) {
      makeHomeFolder(packages, home);
      writeFileAtomically(join(packages, `interpreter-${key}.json`), JSON.stringify({ platform, version }));
    },
    find(digest) {
      return realpath(join(packages, digest, "content")).catch(() => undefined);
    },
    async makeWork(key) {
      makeHomeFolder(packages, home);
      await removeLeftovers(packages, key);
      return makeDirectories(join(packages, `making-${key}-${randomUUID()}`));
    },
    async keep(digest, { work }) {
      const directory = join(packages, digest);
      for (const part of ["done", "done/content"]) {
        if (!(await lstat(join(work, part))).isDirectory()) return undefined;
      }
      try {
        await rename(join(work, "done"), directory);
      } catch (cause) {
        // Another request may have come to the same packages.
        if (!["ENOTEMPTY", "EEXIST"].includes((cause as NodeJS.ErrnoException).code ?? "")) throw cause;
      }
      syncFolder(packages);
      return realpath(join(directory, "content"));
    },
  };
  return cache;
}

async function makeDirectories(place: string): Promise<Work> {
  const [work, told] = [join(place, "work"), join(place, "told")];
  for (const part of ["home", "temporary", "files", "done"]) await mkdir(join(work, part), { recursive: true });
  await mkdir(told);
  for (const path of [work, told]) await chmod(path, 0o755);
  return { work, told, remove: () => rm(place, { recursive: true, force: true }) };
}

/** A lock may come from another machine: what is in it becomes lines of a file that pip reads. */
function checkLock(value: unknown): Lock {
  const lock = value as Partial<Lock> | null;
  const isWhole = lock?.format === 1 && typeof lock.language === "string" && Array.isArray(lock.packages);
  const words = isWhole ? lock.packages.flatMap(({ name, version, hash }) => [name, version, hash]) : [undefined];
  if (words.every((word: unknown) => typeof word === "string" && /^[^\s\0]{1,300}$/u.test(word))) return lock as Lock;
  throw new Error("this is not a lock");
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

async function removeLeftovers(packages: string, key: string): Promise<void> {
  for (const name of await readdir(packages)) {
    const isOwn = name.startsWith(`making-${key}-`);
    const isOld = /^(?:making|installing)-/u.test(name) && (await ageOf(join(packages, name))) > day;
    if (isOwn || isOld) await rm(join(packages, name), { recursive: true, force: true });
  }
}

async function ageOf(path: string): Promise<number> {
  const facts = await stat(path).catch(() => undefined);
  return facts === undefined ? 0 : Date.now() - facts.mtimeMs;
}

/** A digest of a value; objects with the same keys in another order are another value. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
