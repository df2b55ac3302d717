import { readFileSync, statfsSync } from "node:fs";

/** Directories of a program that are in memory. Their size is bounded, but not how many files are in them. */
export const temporaryDirectories = ["tmp", "dev/shm"];
const everyMs = 100;

/** As many files as a program may have in each of its private directories; without a bound, empty ones would fill the memory. */
export const mostFiles = 16_384;

/** Looks after how many files a program makes, where the kernel was not told: calls `onExceeded` once when there are too many. */
export function watchFiles(pid: number, onExceeded: () => void): () => void {
  const timer = setInterval(() => {
    if (!hasManyFiles(pid)) return;
    clearInterval(timer);
    onExceeded();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

function hasManyFiles(pid: number): boolean {
  const inside = findInnermost(pid);
  if (inside === undefined) return false;
  return temporaryDirectories.some((directory) => countFiles(`/proc/${inside}/root/${directory}`) > mostFiles);
}

function countFiles(directory: string): number {
  try {
    const { type, files, ffree } = statfsSync(directory);
    return type === temporaryFileSystem ? files - ffree : 0;
  } catch {
    // It ended in the meantime, or hides from us.
    return 0;
  }
}

const temporaryFileSystem = 0x0102_1994;

/** Only processes that have entered see the private directories: the last one that was started is inside, if any is. */
export function findInnermost(pid: number): number | undefined {
  const inside = lastOf(pid);
  return inside === pid ? undefined : inside;
}

function lastOf(pid: number): number {
  try {
    // One that was started earlier may only wait for the end of this process.
    const child = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").at(-1);
    return child === undefined || child === "" ? pid : lastOf(Number(child));
  } catch {
    return pid;
  }
}
