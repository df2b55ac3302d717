import type { LogStore } from "../../core/store.ts";

/**
 * Finds the position behind which the entries of a stream begin that are not older than `time`, by looking at few of them: 20 of
 * a million. Where the clock went back, entries of that moment may be on the wrong side.
 */
export async function findPosition(log: LogStore, stream: string, time: number): Promise<number> {
  let before = 0;
  let last = await log.position(stream);
  while (before < last) {
    const middle = before + Math.ceil((last - before) / 2);
    const [entry] = await log.read(stream, { after: middle - 1, limit: 1 });
    if (entry !== undefined && entry.time < time) before = middle;
    else last = middle - 1;
  }
  return before;
}
