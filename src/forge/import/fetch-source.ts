import { createHash } from "node:crypto";
import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

import { KitbagError, describeCause, isKitbagError } from "../../core/errors.ts";
import { download } from "../../sandbox/download/download.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { isInside } from "../../platform/paths.ts";
import { importFailed, createStage, type Fetched, type FetchOptions, toLimits, type ImportLimits } from "./fetched.ts";
import { showSource, type ImportSource } from "./import-source.ts";
import { findArchiveKind, createFileTree, type FileTree } from "./file-tree.ts";

/**
 * Fetches a source, without running anything of it. The caller disposes of it.
 *
 * @throws {KitbagError} `import-failed`, `import-refused`, `network-refused`, `network-failed`
 */
export async function fetchSource(source: ImportSource, options: FetchOptions): Promise<Fetched> {
  switch (source.kind) {
    case "git": {
      const { fetchGit } = await import("./fetch-git.ts");
      return fetchGit(source, options);
    }
    case "npm": {
      const { fetchNpm } = await import("./fetch-npm.ts");
      const { bytes, version, integrity } = await fetchNpm(source, options);
      return unpack(source, bytes, { version, integrity }, options);
    }
    case "archive": {
      const bytes = await readBytes(source, options);
      const integrity = `sha256-${createHash("sha256").update(bytes).digest("base64")}`;
      if (source.integrity !== undefined && source.integrity !== integrity) {
        throw importFailed(source, "the archive is not what it should be: its digest is another one");
      }
      return unpack(source, bytes, { integrity }, options);
    }
    case "folder":
      return openFolder(source);
  }
}

type ArchiveSource = Extract<ImportSource, { kind: "archive" }>;

async function readBytes(source: ArchiveSource, options: FetchOptions): Promise<Uint8Array> {
  const { maxDownloadBytes: maxBytes, limitMs } = toLimits(options.limits);
  if (/^https?:\/\//u.test(source.address)) return download(new URL(source.address), { ...options, maxBytes, limitMs });
  const reading = readRegularFile(source.address, { maxBytes });
  if (reading.ok) return reading.bytes;
  throw importFailed(
    source,
    reading.code === "folder-large" ? `it is larger than ${maxBytes} bytes` : explain(reading.reason),
  );
}

async function unpack(
  source: ImportSource,
  archive: Uint8Array,
  resolved: Fetched["resolved"],
  options: FetchOptions,
): Promise<Fetched> {
  const tree = await readArchive(archive, showSource(source), toLimits(options.limits));
  const stage = createStage();
  try {
    const left = tree.write(stage.directory);
    const directory = enterFolder(source, enterOnlyFolder(stage.directory));
    return { source, directory, resolved, notes: left.map((one) => `left out ${one}`), dispose: stage.dispose };
  } catch (cause) {
    stage.dispose();
    throw cause;
  }
}

/** Most archives hold one folder, which is named after the version: paths in it are those that stay the same. */
function enterOnlyFolder(directory: string): string {
  const [only, ...others] = readdirSync(directory, { withFileTypes: true });
  return others.length === 0 && only?.isDirectory() === true ? join(directory, only.name) : directory;
}

/** What is on this machine is read where it is: only the skills that are taken are copied, file by file, as they were shown. */
function openFolder(source: Extract<ImportSource, { kind: "folder" }>): Fetched {
  let root: string;
  try {
    root = realpathSync.native(source.address);
  } catch (cause) {
    throw importFailed(source, "there is no such folder", cause);
  }
  if (!statSync(root).isDirectory()) throw importFailed(source, "it is not a folder");
  return { source, directory: enterFolder(source, root), resolved: {}, notes: [], dispose() {} };
}

function enterFolder(source: ImportSource, root: string): string {
  if (source.folder === undefined) return root;
  const path = join(root, source.folder);
  const missing = `there is no folder ${JSON.stringify(source.folder)} in it`;
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw importFailed(source, missing);
  if (!isInside(realpathSync.native(path), root)) throw importFailed(source, missing);
  return path;
}

function explain(reason: string): string {
  return reason === "ENOENT" ? "there is no such file" : reason;
}

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
    if (kind === "zip") (await import("./unpack.ts")).readZip(archive, tree, limits);
    else await (await import("./unpack.ts")).readTar(archive, tree, limits);
  } catch (cause) {
    if (isKitbagError(cause)) throw cause;
    throw new KitbagError("import-failed", { source, reason: describeCause(cause, 200) }, { cause });
  }
  if (tree.count === 0) throw new KitbagError("import-failed", { source, reason: "there are no files in it" });
  return tree;
}
