import type { JsonValue } from "./json.ts";

/**
 * Writes a JSON value in the one way there is (RFC 8785): keys in the order of their UTF-16 units, no blanks, `-0` as 0. Values
 * that are equal give the same text, whoever wrote them down. Only for values that are plain and not too deep.
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
