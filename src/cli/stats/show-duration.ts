/** A time as people say it: `0.42 ms`, `12 ms`, `3.4 s`, `2.5 min`. */
export function showDuration(durationMs: number): string {
  if (durationMs < 1) return `${trim(durationMs, 2)} ms`;
  if (durationMs < 1000) return `${trim(durationMs, durationMs < 10 ? 1 : 0)} ms`;
  if (durationMs < 60_000) return `${trim(durationMs / 1000, 1)} s`;
  return `${trim(durationMs / 60_000, 1)} min`;
}

function trim(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}
