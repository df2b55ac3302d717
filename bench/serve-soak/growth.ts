/** One reading of a value. */
export interface Reading {
  readonly seconds: number;
  readonly value: number;
}

/**
 * By how much a value grows from the first reading to the last: the median of the slopes between all pairs of readings, times the time. A few
 * readings that are far off change nothing.
 */
export function estimateGrowth(readings: readonly Reading[]): number {
  const [first] = readings;
  const last = readings.at(-1);
  if (first === undefined || last === undefined) return 0;
  const slopes = readings.flatMap((one, index) =>
    readings.slice(index + 1).map((other) => (other.value - one.value) / (other.seconds - one.seconds)),
  );
  return median(slopes) * (last.seconds - first.seconds);
}

/** The value in the middle; 0 if there is none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which `part` of the values are; 0 if there is none. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
