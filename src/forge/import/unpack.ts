import { crc32, createGunzip, inflateRawSync } from "node:zlib";

import { Parser, type ReadEntry } from "tar";

import { findArchiveKind, type FileTree } from "./file-tree.ts";
import type { ImportLimits } from "./fetched.ts";

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

/** What the directory of a zip archive says about one entry. */
interface ZipEntry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  /** Of Unix; 0 if it was made elsewhere. */
  readonly mode: number;
  readonly offset: number;
}

/** Unpacks a zip archive into `tree`. Throws `import-refused` through the tree, or an `Error` if it is no archive. */
export function readZip(archive: Uint8Array, tree: FileTree, limits: Required<ImportLimits>): void {
  const view = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const entries = readDirectory(view, limits.maxFiles);
  const kinds = entries.map((entry) => claimEntry(entry, tree));
  const budget = { left: Math.max(limits.maxRatio * archive.byteLength, 1024 * 1024) };
  for (const [index, entry] of entries.entries()) {
    const kind = kinds[index];
    if (kind === "folder") continue;
    const bytes = readEntry(view, entry, tree, budget);
    if (kind === "link") tree.addLink(entry.name, new TextDecoder().decode(bytes));
    else tree.addFile(entry.name, { bytes, isExecutable: (entry.mode & 0o111) !== 0 });
  }
}

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const localMark = 0x04034b50;

function readDirectory(view: Buffer, maxFiles: number): ZipEntry[] {
  const end = findEnd(view);
  const count = view.readUInt16LE(end + 10);
  if (view.readUInt16LE(end + 4) !== 0) throw new Error("it is one of several parts");
  let place = view.readUInt32LE(end + 16);
  if (count === 0xffff || place === 0xffffffff) throw new Error("it is in the form for very large archives");
  const entries: ZipEntry[] = [];
  for (let index = 0; index < Math.min(count, maxFiles + 1); index += 1) {
    if (place + 46 > end || view.readUInt32LE(place) !== entryMark) throw new Error("its directory is broken");
    const nameLength = view.readUInt16LE(place + 28);
    const nameEnd = place + 46 + nameLength;
    if (nameEnd > end) throw new Error("its directory is broken");
    entries.push(toEntry(view, place, nameEnd));
    place = nameEnd + view.readUInt16LE(place + 30) + view.readUInt16LE(place + 32);
  }
  return entries;
}

/** The end may have a comment behind it. */
function findEnd(view: Buffer): number {
  for (let place = view.length - 22; place >= Math.max(0, view.length - 22 - 0xffff); place -= 1) {
    if (view.readUInt32LE(place) === endMark && place + 22 + view.readUInt16LE(place + 20) === view.length)
      return place;
  }
  throw new Error("it is no zip archive, or it was cut off");
}

function toEntry(view: Buffer, place: number, nameEnd: number): ZipEntry {
  const isUnix = view.readUInt8(place + 5) === 3;
  return {
    name: view.toString("utf8", place + 46, nameEnd),
    flags: view.readUInt16LE(place + 8),
    method: view.readUInt16LE(place + 10),
    crc: view.readUInt32LE(place + 16),
    packedBytes: view.readUInt32LE(place + 20),
    bytes: view.readUInt32LE(place + 24),
    mode: isUnix ? view.readUInt16LE(place + 40) : 0,
    offset: view.readUInt32LE(place + 42),
  };
}

const typeBits = 0o170000;

function claimEntry({ name, bytes, mode, flags, method }: ZipEntry, tree: FileTree): "file" | "folder" | "link" {
  const type = mode & typeBits;
  if (name.endsWith("/")) {
    tree.addFolder(name.slice(0, -1));
    return "folder";
  }
  if ((flags & 1) !== 0) tree.refuse(name, "is encrypted");
  if (method !== 0 && method !== 8) tree.refuse(name, `is packed in a way (${method}) that is not known here`);
  if (type === 0o120000) return "link";
  if (type !== 0 && type !== 0o100000) tree.refuse(name, "is a device, a pipe or a socket");
  tree.announce(name, bytes);
  return "file";
}

const longestLink = 4096;

function readEntry(view: Buffer, entry: ZipEntry, tree: FileTree, budget: { left: number }): Uint8Array {
  const { name, offset, packedBytes, bytes, method, crc } = entry;
  if (offset + 30 > view.length || view.readUInt32LE(offset) !== localMark)
    tree.refuse(name, "is not where the directory says");
  const nameLength = view.readUInt16LE(offset + 26);
  const start = offset + 30 + nameLength + view.readUInt16LE(offset + 28);
  // Two names for one entry would show one to the check and the other to the unpacker.
  if (view.toString("utf8", offset + 30, offset + 30 + nameLength) !== name)
    tree.refuse(name, "has another name inside");
  if (start + packedBytes > view.length) tree.refuse(name, "is cut off");
  const packed = view.subarray(start, start + packedBytes);
  if ((entry.mode & typeBits) === 0o120000 && bytes > longestLink) tree.refuse(name, "is a link that leads out");
  budget.left -= bytes;
  if (budget.left < 0) tree.refuse(name, "makes it grow too much: it looks like a bomb");
  const content =
    method === 0
      ? packed
      : inflate(packed, bytes, () => tree.refuse(name, "is larger than it says: it looks like a bomb"));
  if (content.length !== bytes || crc32(content) !== crc) tree.refuse(name, "is damaged");
  return content;
}

/** Stops what grows beyond what was announced before it fills the memory. */
function inflate(packed: Uint8Array, bytes: number, onMore: () => never): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, bytes) });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return onMore();
    throw cause;
  }
}
