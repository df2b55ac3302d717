/** How the parts of a JSON value are redacted. */
export interface JsonRedaction {
  readonly text: (text: string) => string;
  readonly key: (key: string) => string;
  /** What to show in place of a number; the number itself if it may be shown. */
  readonly number: (number: number) => number | string;
  /** What to show in place of a text because of its key; `undefined` if the key says nothing. */
  readonly named?: (key: string, text: string) => string | undefined;
}

/**
 * A copy of a JSON value in which texts, keys and numbers are redacted; the value itself if there is nothing to hide. Keys that
 * become the same are numbered.
 */
export function redactJson(value: unknown, redaction: JsonRedaction): unknown {
  if (typeof value === "string") return redaction.text(value);
  if (typeof value === "number") return redaction.number(value);
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value)
    ? redactList(value, redaction)
    : redactRecord(value as Readonly<Record<string, unknown>>, redaction);
}

function redactList(list: readonly unknown[], redaction: JsonRedaction): readonly unknown[] {
  const items = list.map((item) => redactJson(item, redaction));
  return items.some((item, index) => item !== list[index]) ? items : list;
}

function redactRecord(value: Readonly<Record<string, unknown>>, redaction: JsonRedaction): unknown {
  const keys = Object.keys(value);
  // Most records have nothing to hide, and need no copy.
  const first = keys.findIndex(
    (key) => redaction.key(key) !== key || redactItem(key, value[key], redaction) !== value[key],
  );
  if (first === -1) return value;
  const clean = new Map<string, unknown>();
  for (const key of keys) {
    const cleanKey = redaction.key(key);
    clean.set(clean.has(cleanKey) ? nextKey(clean, cleanKey) : cleanKey, redactItem(key, value[key], redaction));
  }
  return Object.fromEntries(clean);
}

function redactItem(key: string, item: unknown, redaction: JsonRedaction): unknown {
  if (typeof item !== "string" || redaction.named === undefined) return redactJson(item, redaction);
  return redaction.named(key, item) ?? redaction.text(item);
}

function nextKey(taken: ReadonlyMap<string, unknown>, key: string): string {
  let count = 2;
  while (taken.has(`${key} ${count}`)) count += 1;
  return `${key} ${count}`;
}
