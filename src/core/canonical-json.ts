import type { JsonValue } from "./json.ts";

/**
 * Writes a JSON value in the one way there is (RFC 8785): keys in the order of their UTF-16 units, no blanks, `-0` as 0. Values
 * that are equal give the same text, whoever wrote them down. Only for values that are plain and not too deep.
 */
export function toCanonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  let text = "{";
  for (const key of toSortedKeys(value)) {
    const item = (value as Readonly<Record<string, JsonValue | undefined>>)[key];
    if (item === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(key)}:${toCanonicalJson(item)}`;
  }
  return `${text}}`;
}

/** More are left to the engine. */
const fewKeys = 24;

/** The keys of an object in the order of their UTF-16 units. Few are sorted where they stand, which leaves nothing to be collected. */
export function toSortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  if (keys.length > fewKeys) return keys.toSorted();
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] as string;
    let place = index;
    for (; place > 0 && (keys[place - 1] as string) > key; place -= 1) keys[place] = keys[place - 1] as string;
    keys[place] = key;
  }
  return keys;
}
