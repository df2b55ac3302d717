import { hash } from "node:crypto";

import { toCanonicalJson, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";

const known = new WeakMap<Tool, string>();

/**
 * A digest of what a tool is: everything in its definition, and of its code what is data, such as the digests of a script and of
 * the files beside it. Of code that is a function of the host there is nothing to digest but its definition. Where the files are
 * does not count. A tool does not change, so it is made once.
 */
export function toolDigest(tool: Tool): string {
  const digest = known.get(tool) ?? `sha256:${hash("sha256", toCanonicalJson(toData({ ...tool })))}`;
  known.set(tool, digest);
  return digest;
}

const deepest = 64;

/** The part of an object that is JSON, without the places where files are. */
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
