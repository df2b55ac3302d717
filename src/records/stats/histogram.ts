/** How many buckets there are for each doubling: a quantile is off by less than 2.2 %. */
const perDoubling = 16;
/** The upper end of the first bucket, in milliseconds: about a microsecond. */
const smallest = 2 ** -10;
/** Longer times count as this long: four and a half hours. */
const largest = 2 ** 24;
const bucketCount = Math.log2(largest / smallest) * perDoubling + 1;

/** How long things took, in a fixed number of buckets: it takes 2 KB, however much is counted. */
export class Histogram {
  count = 0;
  sumMs = 0;
  maxMs = 0;
  readonly #buckets = new Uint32Array(bucketCount);

  /** Counts one time. What is no time, as a clock that was set back makes it, counts as 0. */
  add(durationMs: number): void {
    const clean = durationMs > 0 ? Math.min(durationMs, largest) : 0;
    const index = clean <= smallest ? 0 : Math.ceil(Math.log2(clean / smallest) * perDoubling);
    this.#buckets[index] = (this.#buckets[index] as number) + 1;
    this.count += 1;
    this.sumMs += clean;
    if (clean > this.maxMs) this.maxMs = clean;
  }

  /** The time that a part of all, from 0 to 1, did not exceed; 0 if nothing was counted. */
  quantile(part: number): number {
    const rank = Math.max(1, Math.ceil(part * this.count));
    if (rank >= this.count) return this.maxMs;
    let seen = 0;
    for (const [index, inside] of this.#buckets.entries()) {
      seen += inside;
      // The middle of the bucket, but no more than there really was.
      if (seen >= rank) return Math.min(this.maxMs, smallest * 2 ** ((index - 0.5) / perDoubling));
    }
    return this.maxMs;
  }
}
