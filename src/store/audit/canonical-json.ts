import type { JsonValue } from "../../core/json.ts";

/**
 * Writes a JSON value in the one way there is (RFC 8785): keys in the order of their UTF-16 units, no blanks. Values that are
 * equal give the same text, whoever wrote them down.
 */
export function toCanonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  let text = "{";
  for (const key of Object.keys(value).toSorted()) {
    const item = (value as Readonly<Record<string, JsonValue | undefined>>)[key];
    if (item === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(key)}:${toCanonicalJson(item)}`;
  }
  return `${text}}`;
}
