/** Tells whether no two items of a list are the same JSON; true for everything that is no list. */
export function hasUniqueItems(value: unknown): boolean {
  if (!Array.isArray(value)) return true;
  const simple = new Set<unknown>();
  const containers = new Set<string>();
  for (const item of value as unknown[]) {
    if (typeof item === "object" && item !== null) containers.add(toCanonicalText(item));
    else simple.add(item);
  }
  return simple.size + containers.size === value.length;
}

/** Writes JSON so that two values that are the same have the same text: with the keys in order. */
function toCanonicalText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toCanonicalText).join()}]`;
  const record = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(record).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${toCanonicalText(record[key])}`).join()}}`;
}
