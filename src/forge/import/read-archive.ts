import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
import { findArchiveKind } from "./archive-kind.ts";
import { createFileTree, type FileTree } from "./file-tree.ts";
import type { ImportLimits } from "./import-limits.ts";

/**
 * Unpacks an archive into memory: zip, tar or tar in gzip, told apart by what is in it, not by its name.
 *
 * @throws {KitbagError} `import-refused` if an entry must not be unpacked; `import-failed` if it is no archive, or is damaged.
 */
export async function readArchive(
  archive: Uint8Array,
  source: string,
  limits: Required<ImportLimits>,
): Promise<FileTree> {
  const tree = createFileTree(source, limits);
  try {
    const kind = findArchiveKind(archive);
    if (kind === undefined) throw new Error("it is neither a zip nor a tar archive");
    if (kind === "zip") (await import("./read-zip.ts")).readZip(archive, tree, limits);
    else await (await import("./read-tar.ts")).readTar(archive, tree, limits);
  } catch (cause) {
    if (isKitbagError(cause)) throw cause;
    throw new KitbagError("import-failed", { source, reason: describeCause(cause, 200) }, { cause });
  }
  if (tree.count === 0) throw new KitbagError("import-failed", { source, reason: "there are no files in it" });
  return tree;
}
