import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { takeFileLock } from "../../platform/file-lock.ts";
import { writeFileAtomically } from "../../platform/files.ts";
import { makeHomeFolder } from "../../platform/home.ts";

/** Modules that were built before, each by what it was made of. */
export interface BuildCache {
  /** Nothing if it is not there, or is not what was put there. */
  get(key: string): Uint8Array | undefined;
  put(key: string, module: Uint8Array): void;
  /** Does `work` while no other build, in this process or another one, works for the same key. */
  withLock<Result>(key: string, work: () => Promise<Result>, options?: LockOptions): Promise<Result>;
}

/** How {@link BuildCache.withLock} waits. */
export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once if another build works for the same key. */
  readonly onWait?: () => void;
}

const digestBytes = 32;

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
      writeFileAtomically(fileOf(key), Buffer.concat([digestOf(module), module]));
    },
    async withLock(key, work, { signal, onWait = () => {} } = {}) {
      makeHomeFolder(directory);
      const release = await takeFileLock(join(directory, `${key}.lock`), { onWait, ...(signal && { signal }) });
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
