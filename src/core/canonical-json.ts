import type { JsonValue } from "./json.ts";

/**
 * Writes a value so that equal values give equal texts: keys sorted, no spaces, `-0` as 0. Only for values that have been through
 * `copyJson`, so that they are plain and not too deep.
 */
export function toCanonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${toCanonicalJson(value[key] as JsonValue)}`).join(",")}}`;
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
