import type { JsonObject, JsonValue } from "../../core/json.ts";
import { usageError } from "../usage-error.ts";
import type { Setting } from "./parse-flags.ts";

/**
 * Puts settings over an input: what a flag says goes before what the input says, and the rest of the input stays.
 *
 * @throws {KitbagError} `usage-invalid` if a flag goes into something that is not an object.
 */
export function applySettings(input: JsonObject, settings: readonly Setting[]): JsonObject {
  // `--filter '{…}' --filter.size 3` means the same in any order: the whole first, then its parts.
  const wholeFirst = settings.toSorted((left, right) => left.path.length - right.path.length);
  return wholeFirst.reduce((result, { path, value }) => setInside(result, path, value), input);
}

function setInside(target: JsonObject, path: readonly string[], value: JsonValue): JsonObject {
  const [name = "", ...rest] = path;
  if (rest.length === 0) return { ...target, [name]: value };
  const inner = Object.hasOwn(target, name) ? (target[name] ?? {}) : {};
  if (typeof inner === "object" && !isList(inner)) return { ...target, [name]: setInside(inner, rest, value) };
  throw usageError(`Cannot use --${path.join(".")}: ${name} is already set to something that has no parts`);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
