import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
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
    if (isZip(archive)) (await import("./read-zip.ts")).readZip(archive, tree, limits);
    else if (isTar(archive)) await (await import("./read-tar.ts")).readTar(archive, tree, limits);
    else throw new Error("it is neither a zip nor a tar archive");
  } catch (cause) {
    if (isKitbagError(cause)) throw cause;
    throw new KitbagError("import-failed", { source, reason: describeCause(cause, 200) }, { cause });
  }
  if (tree.count === 0) throw new KitbagError("import-failed", { source, reason: "there are no files in it" });
  return tree;
}

function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b;
}

function isTar(bytes: Uint8Array): boolean {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return isGzip || new TextDecoder("latin1").decode(bytes.subarray(257, 262)) === "ustar" || bytes.length % 512 === 0;
}
