/** How {@link mapBounded} works through a list. */
export interface BoundedOptions {
  readonly maxConcurrent: number;
  readonly signal: AbortSignal;
}

/**
 * Runs `run` on every item, at most `maxConcurrent` at once, and answers with the results in the order of the items.
 *
 * **Contract**: the first failure rejects at once, and nothing more is started; neither is anything after an abort.
 */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  { maxConcurrent, signal }: BoundedOptions,
  run: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  let failed = false;
  const work = async (): Promise<void> => {
    // The workers share one iterator, so each item is taken once.
    for (const [index, item] of waiting) {
      if (failed) return;
      signal.throwIfAborted();
      try {
        results[index] = await run(item, index);
      } catch (cause) {
        failed = true;
        throw cause;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrent, items.length) }, work));
  return results;
}
