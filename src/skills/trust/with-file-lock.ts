import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

import { KitbagError } from "../../core/errors.ts";

const longestWaitMs = 10_000;
/** The work under the lock takes milliseconds: an older lock was left by a program that was killed. */
const staleAfterMs = 5000;

/**
 * Does `work` while no other program does the same under this lock.
 *
 * @throws {KitbagError} `config-invalid` if another program keeps the lock for too long.
 */
export async function withFileLock<Result>(path: string, work: () => Result | Promise<Result>): Promise<Result> {
  const start = Date.now();
  while (!takeLock(path)) {
    if (Date.now() - start > longestWaitMs) {
      const reason = "another program holds this lock; delete it if there is none";
      throw new KitbagError("config-invalid", { path, reason });
    }
    await wait(10 + Math.random() * 20);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function takeLock(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > staleAfterMs) rmSync(path, { force: true });
    return false;
  }
}
