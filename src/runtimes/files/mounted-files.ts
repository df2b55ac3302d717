import { statSync } from "node:fs";

import type { NamedFile } from "../../core/call-files.ts";
import { KitbagError } from "../../core/errors.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { CallFiles, RuntimeContext } from "../../core/runtime.ts";
import type { Tool } from "../../core/tool.ts";

/** How many bytes of files are copied for one call. Larger files are mounted, which needs a new sandbox. */
export const mostCopiedBytes = 64 * 1024 * 1024;

const known = new WeakMap<CallFiles, readonly NamedFile[]>();

/**
 * The named files that are mounted where they are, because they are folders or too large to be copied.
 *
 * @throws {KitbagError} `file-denied` for a large file that a model wants to change: no backup would be kept of it.
 */
export function findMounted(tool: Tool, files: CallFiles): readonly NamedFile[] {
  const found = known.get(files) ?? pickMounted(tool, files);
  known.set(files, found);
  return found;
}

function pickMounted(tool: Tool, { named, by }: CallFiles): readonly NamedFile[] {
  let left = mostCopiedBytes;
  return named.filter(({ path, kind, use, name }) => {
    if (path === undefined || kind !== "file") return kind === "folder";
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes <= left) {
      left -= bytes;
      return false;
    }
    if (use === "read" || by === "person") return true;
    const reason = `it is larger than ${left} bytes, so no copy of it could be kept; a person can grant its folder`;
    throw new KitbagError("file-denied", { tool: tool.name, file: name, reason });
  });
}

const extended = new WeakMap<CallFiles, Permissions>();

/** What a tool may touch in one call: its permissions, and the folders and large files that the call names. */
export function permissionsIn({ files }: Pick<RuntimeContext, "files">, tool: Tool): Permissions {
  const mounted = files === undefined ? [] : findMounted(tool, files);
  if (files === undefined || mounted.length === 0) return tool.permissions;
  const found = extended.get(files);
  if (found !== undefined) return found;
  const { read = [], write = [] } = tool.permissions;
  const toPaths = (use: NamedFile["use"]): string[] =>
    mounted.flatMap((one) => (one.use === use && one.path !== undefined ? [toScope(tool, one, one.path)] : []));
  const made = { ...tool.permissions, read: [...read, ...toPaths("read")], write: [...write, ...toPaths("write")] };
  extended.set(files, made);
  return made;
}

/** A path as permissions write it. */
function toScope(tool: Tool, { name, kind }: NamedFile, path: string): string {
  if (!/[*?]/u.test(path)) return kind === "folder" ? `${path}/` : path;
  const reason = 'a permission would take "*" or "?" in it for a pattern; rename it';
  throw new KitbagError("file-denied", { tool: tool.name, file: name, reason });
}
