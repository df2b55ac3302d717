import { hash } from "node:crypto";

import { toCanonicalJson, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";

const known = new WeakMap<Tool, string>();

/**
 * The digest of a tool: of its whole definition, and of the data in its code, such as the digests of a script and of the files beside it.
 * A function of the host has no data, so only the definition of such a tool counts. The folder of the files does not count. It is computed
 * once for each tool, because tools do not change.
 */
export function toolDigest(tool: Tool): string {
  const digest = known.get(tool) ?? `sha256:${hash("sha256", toCanonicalJson(toData({ ...tool })))}`;
  known.set(tool, digest);
  return digest;
}

const deepest = 64;

/** The properties of an object that are JSON, without the folder of its files. */
export function toData(value: object, depth = 0): JsonObject {
  const data: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key !== "directory" && item !== undefined && typeof item !== "function")
      data.push([key, toJson(item, depth + 1)]);
  }
  return Object.fromEntries(data);
}

function toJson(value: unknown, depth: number): JsonValue {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || value === null || depth > deepest) return null;
  return Array.isArray(value) ? value.map((item) => toJson(item, depth + 1)) : toData(value, depth);
}
