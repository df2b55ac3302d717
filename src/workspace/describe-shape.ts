import type { JsonValue } from "../core/json.ts";

/** Says what a value looks like, in one line: `a list of 1200 objects with id, name`. */
export function describeShape(value: JsonValue): string {
  if (typeof value === "string") return `text of ${value.length} characters`;
  if (Array.isArray(value)) {
    const [first] = value as readonly JsonValue[];
    return first === undefined ? "an empty list" : `a list of ${value.length}; the first is ${describeItem(first)}`;
  }
  return describeItem(value);
}

function describeItem(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== "object") return `a ${typeof value}`;
  const keys = Object.keys(value);
  const shown = keys.slice(0, 20).join(", ");
  return `an object with ${keys.length > 20 ? `${shown} and ${keys.length - 20} more` : shown || "no properties"}`;
}
