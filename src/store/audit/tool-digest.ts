import { createHash } from "node:crypto";

import type { JsonValue } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";
import { toCanonicalJson } from "./canonical-json.ts";

const known = new WeakMap<Tool, string>();

/**
 * A digest of what a tool is: everything in its definition, and of its code what is data, such as the digests of a script and of
 * the files beside it. Of code that is a function of the host there is nothing to digest but its definition. Where the files are
 * does not count. A tool does not change, so it is made once.
 */
export function toolDigest(tool: Tool): string {
  let digest = known.get(tool);
  if (digest === undefined) {
    digest = `sha256:${createHash("sha256")
      .update(toCanonicalJson(toData(tool, 0)))
      .digest("hex")}`;
    known.set(tool, digest);
  }
  return digest;
}

const deepest = 64;

/** The part of a value that is JSON. */
function toData(value: unknown, depth: number): JsonValue {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || value === null || depth > deepest) return null;
  if (Array.isArray(value)) return value.map((item) => toData(item, depth + 1));
  const data: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key !== "directory" && item !== undefined && typeof item !== "function")
      data.push([key, toData(item, depth + 1)]);
  }
  return Object.fromEntries(data);
}
