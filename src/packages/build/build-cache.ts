import { createHash, randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { makeHomeFolder } from "../../platform/home.ts";
import { isRunning } from "../../sandbox/is-running.ts";

/** Modules that were built before, each by what it was made of. */
export interface BuildCache {
  /** Nothing if it is not there, or is not what was put there. */
  get(key: string): Uint8Array | undefined;
  put(key: string, module: Uint8Array): void;
  /** Does `work` while nobody else, in this process or another one, works for the same key. */
  withLock<Result>(key: string, work: () => Promise<Result>, options?: LockOptions): Promise<Result>;
}

/** How {@link BuildCache.withLock} waits. */
export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when somebody else is working. */
  readonly onWait?: () => void;
}

const digestBytes = 32;
const pollMs = 50;
/** No build takes this long: whoever made the lock forgot it. */
const staleAfterMs = 15 * 60_000;

/** Makes a cache in `directory`, which need not be there. Each file is the digest of a module, and the module. */
export function createBuildCache(directory: string): BuildCache {
  const fileOf = (key: string): string => join(directory, `${key}.wasm`);
  return {
    get(key) {
      let kept: Uint8Array;
      try {
        kept = readFileSync(fileOf(key));
      } catch {
        return undefined;
      }
      const module = kept.subarray(digestBytes);
      return digestOf(module).equals(kept.subarray(0, digestBytes)) ? module : undefined;
    },
    put(key, module) {
      makeHomeFolder(directory);
      const draft = join(directory, `${key}.${randomBytes(6).toString("hex")}.new`);
      try {
        writeFileSync(draft, Buffer.concat([digestOf(module), module]), { flag: "wx", mode: 0o600 });
        renameSync(draft, fileOf(key));
      } catch (cause) {
        rmSync(draft, { force: true });
        throw cause;
      }
    },
    async withLock(key, work, { signal, onWait } = {}) {
      makeHomeFolder(directory);
      const lock = join(directory, `${key}.lock`);
      for (let hasLock = takeLock(lock), isFirst = true; !hasLock; hasLock = takeLock(lock), isFirst = false) {
        if (isFirst) onWait?.();
        await wait(pollMs, undefined, signal === undefined ? {} : { signal });
      }
      try {
        return await work();
      } finally {
        rmSync(lock, { force: true });
      }
    },
  };
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    // Two who find it forgotten may both build then: that costs time and nothing else.
    if (isForgotten(lock)) rmSync(lock, { force: true });
    return false;
  }
}

/** The program that made it was killed. */
function isForgotten(lock: string): boolean {
  try {
    const age = Date.now() - statSync(lock).mtimeMs;
    const pid = Number(readFileSync(lock, "utf8"));
    // Whoever has just made it may not have written its number yet.
    return age > staleAfterMs || (age > 1000 && !(pid > 0 && isRunning(pid)));
  } catch {
    return false;
  }
}
