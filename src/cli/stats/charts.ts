const heights = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** A line of small columns, as high as the numbers; the highest number fills its line. Nothing is a dot. */
export function renderSparkline(values: readonly number[]): string {
  const highest = Math.max(1, ...values);
  return values.map((value) => renderColumn(value / highest)).join("");
}

function renderColumn(share: number): string {
  return share > 0 ? (heights[Math.min(heights.length - 1, Math.floor(share * heights.length))] ?? "") : "·";
}

/** A bar of `width` characters: dark until the first of three shares, lighter until the second, lightest until the third. */
export function renderQuantiles(shares: readonly [number, number, number], width: number): string {
  const ends = shares.map((share) => Math.round(Math.min(1, share) * width));
  const [first = 0, second = 0, third = 0] = ends;
  const bar =
    "█".repeat(first) +
    "▓".repeat(Math.max(0, second - first)) +
    "░".repeat(Math.max(0, third - Math.max(first, second)));
  // What is there, but too small to be seen, is seen all the same.
  return bar === "" && shares[2] > 0 ? "▏" : bar;
}
