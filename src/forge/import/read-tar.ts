import { createGunzip } from "node:zlib";

import { Parser, type ReadEntry } from "tar";

import { findArchiveKind } from "./archive-kind.ts";
import type { FileTree } from "./file-tree.ts";
import type { ImportLimits } from "./import-limits.ts";

const pieceBytes = 64 * 1024;
const mebibyte = 1024 * 1024;
/** What an entry may take beside its content: its header, what is said about it, and zeros up to the next block. */
const entryBytes = 4096;
/** What may be said about an entry beside its header: long names and the like. */
const aboutBytes = 1024;

/**
 * Unpacks a tar archive, packed with gzip or not, into `tree`. Rejects as `readZip` throws. In pieces, so that what must not be unpacked
 * is refused before the rest of it is.
 */
export async function readTar(archive: Uint8Array, tree: FileTree, limits: Required<ImportLimits>): Promise<void> {
  const tar = createTarReader(tree, limits.maxFiles * aboutBytes);
  const maxGrown = Math.max(limits.maxRatio * archive.byteLength, mebibyte);
  const maxBytes = limits.maxBytes + limits.maxFiles * entryBytes;
  let bytes = 0;
  for await (const piece of findArchiveKind(archive) === "gzip" ? gunzip(archive) : cut(archive)) {
    // It would be unpacked a second time, without these limits.
    if (bytes === 0 && findArchiveKind(piece) === "gzip") throw new Error("it is packed twice");
    bytes += piece.length;
    if (bytes > maxGrown) tar.refuseLast("makes it grow too much: it looks like a bomb");
    if (bytes > maxBytes) tar.refuseLast(`makes it larger than ${limits.maxBytes} bytes`);
    tar.write(piece);
  }
  await tar.end();
}

function gunzip(archive: Uint8Array): AsyncIterable<Buffer> {
  const stream = createGunzip({ chunkSize: pieceBytes });
  stream.end(archive);
  return stream;
}

function* cut(archive: Uint8Array): Iterable<Buffer> {
  for (let start = 0; start < archive.byteLength; start += pieceBytes) {
    const length = Math.min(pieceBytes, archive.byteLength - start);
    yield Buffer.from(archive.buffer, archive.byteOffset + start, length);
  }
}

/** Takes a tar archive piece by piece. Each method throws what is wrong with it. */
interface TarReader {
  write(piece: Buffer): void;
  /** Blames the entry that came last. */
  refuseLast(reason: string): never;
  end(): Promise<void>;
}

function createTarReader(tree: FileTree, maxAboutBytes: number): TarReader {
  let about = 0;
  let last: string | undefined;
  let failure: Error | undefined;
  let isOver = false;
  const fail = (cause: unknown): void => {
    failure ??= cause instanceof Error ? cause : new Error(String(cause));
  };
  const parser = new Parser({
    strict: true,
    zstd: false,
    onReadEntry(entry) {
      if (failure !== undefined) return;
      last = entry.path;
      try {
        takeEntry(entry, tree, fail);
      } catch (cause) {
        fail(cause);
      }
    },
  });
  parser.on("error", fail);
  parser.on("eof", () => (isOver = true));
  parser.on("meta", (text: string) => {
    about += text.length;
    if (about > maxAboutBytes) fail(new Error(`its entries say more than ${maxAboutBytes} bytes about themselves`));
  });

  return {
    write(piece) {
      // What comes after the end is not read, but the sum at the end of gzip counts.
      if (!isOver) parser.write(piece);
      if (failure !== undefined) throw failure;
    },
    refuseLast(reason) {
      if (last === undefined) throw new Error(`its first entry ${reason}`);
      return tree.refuse(last, reason);
    },
    async end() {
      await new Promise<void>((resolve) => {
        parser.once("end", resolve);
        parser.once("error", () => resolve());
        parser.end();
      });
      if (failure !== undefined) throw failure;
    },
  };
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
