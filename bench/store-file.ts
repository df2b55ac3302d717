import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Store } from "kitbag";
import { sqliteStore } from "kitbag/store";

/** A store in a file of its own, which is gone when the process ends. */
export interface StoreFile {
  readonly store: Store;
  readonly directory: string;
  /** How large the file is, with what is still to be moved into it. */
  bytes(): number;
}

/** Makes a store in a new file, on the disk that holds temporary files. */
export async function openStoreFile(): Promise<StoreFile> {
  const directory = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "kitbag.db");
  const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return {
    store: await sqliteStore({ file }),
    directory,
    bytes: () => sizeOf(file) + sizeOf(`${file}-wal`),
  };
}

/** Does `work` so many times, so many at any time, and answers how long each took, in milliseconds. */
export async function runAtOnce(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let index = next++; index < count; index = next++) {
        const before = performance.now();
        await work(index);
        times.push(performance.now() - before);
      }
    }),
  );
  return times;
}

/**
 * Begins `work` so many times at an even rate, but never more than so many at any time. Answers how long each took, in milliseconds,
 * and how many a second it came to.
 */
export async function runEvenly(
  { count, perSecond, atOnce }: { readonly count: number; readonly perSecond: number; readonly atOnce: number },
  work: (index: number) => Promise<unknown>,
): Promise<{ readonly times: readonly number[]; readonly rate: number }> {
  const times: number[] = [];
  const start = performance.now();
  const running = new Set<Promise<void>>();
  const runOne = async (index: number): Promise<void> => {
    const before = performance.now();
    await work(index);
    times.push(performance.now() - before);
  };
  for (let begun = 0; begun < count;) {
    const due = Math.min(count, Math.floor(((performance.now() - start) * perSecond) / 1000) + 1);
    for (; begun < due && running.size < atOnce; begun += 1) {
      const call = runOne(begun);
      running.add(call);
      void call.finally(() => running.delete(call));
    }
    await new Promise(setImmediate);
  }
  await Promise.all(running);
  return { times, rate: (count * 1000) / (performance.now() - start) };
}

/** The time below which 99 of 100 lie. */
export function p99(times: readonly number[]): number {
  const sorted = times.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}
