import { Parser, type ReadEntry } from "tar";

import type { FileTree } from "./file-tree.ts";
import type { ImportLimits } from "./import-limits.ts";

/** Unpacks a tar archive, packed with gzip or not, into `tree`. Rejects as `readZip` throws. */
export async function readTar(archive: Uint8Array, tree: FileTree, limits: Required<ImportLimits>): Promise<void> {
  let last: string | undefined;
  await new Promise<void>((resolve, reject) => {
    const parser = new Parser({
      strict: true,
      // It counts from the first byte on: small archives of small files may be packed well.
      maxDecompressionRatio: Math.max(limits.maxRatio, (1024 * 1024) / Math.max(archive.byteLength, 1)),
      onReadEntry(entry) {
        last = entry.path;
        try {
          takeEntry(entry, tree, fail);
        } catch (cause) {
          fail(cause);
        }
      },
    });
    function fail(cause: unknown): void {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      reject(error);
      parser.abort(error);
    }
    parser.on("error", reject);
    parser.on("end", resolve);
    parser.end(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength));
  }).catch((cause: unknown) => {
    const isBomb = cause instanceof Error && /ratio/iu.test(cause.message);
    if (isBomb && last !== undefined) tree.refuse(last, "makes it grow too much: it looks like a bomb");
    throw cause;
  });
}

const fileTypes: ReadonlySet<string> = new Set(["File", "OldFile", "ContiguousFile"]);

const refusals: Readonly<Record<string, string>> = {
  Link: "is a hard link",
  CharacterDevice: "is a device",
  BlockDevice: "is a device",
  FIFO: "is a pipe",
};

function takeEntry(entry: ReadEntry, tree: FileTree, fail: (cause: unknown) => void): void {
  const { type } = entry;
  const path = entry.path.replace(/^(?:\.\/)+/u, "");
  if (type === "Directory" || type === "GNUDumpDir") {
    const folder = path.replace(/\/+$/u, "");
    if (folder !== "" && folder !== ".") tree.addFolder(folder);
    entry.resume();
  } else if (type === "SymbolicLink") {
    tree.addLink(path, entry.linkpath ?? "");
    entry.resume();
  } else if (fileTypes.has(type)) {
    tree.announce(path, entry.size);
    readContent(entry, path, tree, fail);
  } else tree.refuse(path, refusals[type] ?? `is of a kind (${type}) that is not unpacked`);
}

function readContent(entry: ReadEntry, path: string, tree: FileTree, fail: (cause: unknown) => void): void {
  const pieces: Buffer[] = [];
  entry.on("data", (piece: Buffer) => void pieces.push(piece));
  entry.on("error", fail);
  entry.on("end", () => {
    try {
      tree.addFile(path, { bytes: Buffer.concat(pieces), isExecutable: ((entry.mode ?? 0) & 0o111) !== 0 });
    } catch (cause) {
      fail(cause);
    }
  });
}
