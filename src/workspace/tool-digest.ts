import { hash } from "node:crypto";

import { toCanonicalJson } from "../core/canonical-json.ts";
import type { JsonObject } from "../core/json.ts";
import type { ScriptCode } from "../core/script-code.ts";
import type { Tool } from "../core/tool.ts";

const digests = new WeakMap<Tool, string>();

/**
 * The digest of what a tool is: what it says of itself, and the digest of the script or module that is its code. A function's code
 * is not in it: give a tool another `version` when its function changes.
 */
export function toolDigest(tool: Tool): string {
  const known = digests.get(tool);
  if (known !== undefined) return known;
  const digest = `sha256:${hash("sha256", toCanonicalJson(describeTool(tool)))}`;
  digests.set(tool, digest);
  return digest;
}

/** What a tool says of itself, as data. */
export function describeTool({ code, refine: _refine, ...data }: Tool): JsonObject {
  const { kind, path, digest, interpreter, dependencies } = code as Partial<ScriptCode>;
  return toData({ ...data, code: { kind, path, digest, interpreter, dependencies } });
}

/** Leaves out what is no data. */
export function toData(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
