import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, statfsSync, statSync, type Stats } from "node:fs";
import { chmod, lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

import type { Mount, Profile } from "./sandbox.ts";
import { removeTree } from "./work-area.ts";

/** Where the private folder of a call is inside, in sandboxes that can show a folder at another place. */
export const workTarget = "/opt/kitbag/call";

/** The maximum number of files and folders in a private folder. */
export const mostWorkFiles = 16_384;

/** The private folder of a call, on the host. */
export interface WorkFolder {
  /** All of it, with what follows. */
  readonly root: string;
  /** Where the script works. */
  readonly files: string;
  /** Its home. */
  readonly home: string;
  /** Its folder for temporary files. */
  readonly temporary: string;
}

/** The parts of a private folder, on the host or inside. */
export function toWorkFolder(root: string): WorkFolder {
  return { root, files: join(root, "files"), home: join(root, "home"), temporary: join(root, "tmp") };
}

function listWorkFolders(work: Profile["work"]): readonly string[] {
  return work === undefined ? [] : ["", ...work.folders];
}

/** Makes the private folder of one call, empty but for folders, in a directory that no other user can enter. */
export function makeWorkFolder(directory: string, { work }: Pick<Profile, "work"> = {}): WorkFolder {
  const folder = toWorkFolder(join(directory, `work-${randomBytes(8).toString("hex")}`));
  // Where the directory is gone, a cleaner of temporary files has taken it: it must not come back.
  mkdirSync(folder.root, { mode: 0o700 });
  for (const path of [folder.files, folder.home, folder.temporary]) mkdirSync(path, { mode: 0o700 });
  for (const path of listWorkFolders(work)) mkdirSync(join(folder.files, path), { recursive: true, mode: 0o700 });
  return folder;
}

/**
 * The mounts that show a private folder inside, to write. Its `/tmp` is left in memory where a profile has something below that: it would
 * be covered.
 */
export function toWorkMounts({ root, files, temporary }: WorkFolder, profile: Profile): readonly Mount[] {
  const { mounts, sealed = [], work } = profile;
  const isInUse = sealed.length > 0 || mounts.some(({ target }) => target.startsWith("/tmp/"));
  const own = { write: true, granted: true };
  return [
    { source: root, target: workTarget, ...own },
    ...listWorkFolders(work).map((path) => ({
      source: join(files, path),
      target: join(work?.path ?? "", path),
      ...own,
    })),
    ...(isInUse ? [] : [{ source: temporary, target: "/tmp", ...own }]),
  ];
}

/** Puts files into a private folder. */
export type FillFolder = (folder: WorkFolder) => Promise<void>;

/** Fills a private folder; what waits for it is ended if that fails. */
export async function fillOrEnd(folder: WorkFolder, fill: FillFolder, end: () => void): Promise<void> {
  try {
    await fill(folder);
  } catch (cause) {
    end();
    await removeTree(folder.root);
    throw cause;
  }
}

const watchMs = 100;

/**
 * Looks from time to time how much is in a private folder, which is on the disk of the host, and calls `onFull` when it is more than
 * `maxBytes` or {@link mostWorkFiles}, or when something in it cannot be measured. Answers with what ends that.
 */
export function watchWorkFolder(folder: WorkFolder, maxBytes: number, onFull: () => void): () => void {
  const freeBefore = measureFree(folder.root);
  let timer: NodeJS.Timeout;
  let isOver = false;
  const wait = (): void => {
    timer = setTimeout(() => void look(), watchMs).unref();
  };
  const look = async (): Promise<void> => {
    const isFull = await isFuller(folder, maxBytes, freeBefore);
    if (isOver) return;
    if (isFull) onFull();
    else wait();
  };
  wait();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

async function isFuller({ root }: WorkFolder, maxBytes: number, freeBefore: number): Promise<boolean> {
  let bytes = 0;
  let count = 0;
  let isHidden = false;
  for await (const { facts } of walkFolder(root, { onHidden: () => void (isHidden = true) })) {
    // What takes no room on the disk, such as a file with holes, does not count.
    bytes += facts.blocks * 512;
    count += 1;
    if (bytes > maxBytes || count > mostWorkFiles) return true;
  }
  // What cannot be measured may be any size.
  if (isHidden) return true;
  const isLost = freeBefore - measureFree(root) > maxBytes;
  return isLost && bytes + measureNameless(root) > maxBytes;
}

function measureFree(folder: string): number {
  try {
    const facts = statfsSync(folder);
    return facts.bfree * facts.bsize;
  } catch {
    // The call is over, and the folder is gone.
    return Infinity;
  }
}

/** Bytes of the files that programs in the sandbox of a private folder still have open, and whose names they have removed. */
function measureNameless(root: string): number {
  const own = lookAt(root);
  if (own === undefined) return 0;
  const sizes = new Map<number, number>();
  for (const pid of list("/proc").filter((name) => /^\d+$/u.test(name))) {
    const place = lookAt(`/proc/${pid}/root${workTarget}`);
    if (place?.ino !== own.ino || place.dev !== own.dev) continue;
    for (const facts of list(`/proc/${pid}/fd`).map((descriptor) => lookAt(`/proc/${pid}/fd/${descriptor}`))) {
      if (facts?.nlink === 0 && facts.dev === own.dev) sizes.set(facts.ino, facts.blocks * 512);
    }
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The process has ended, or is another user's.
    return [];
  }
}

function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** More than fits: what a program makes between two looks counts as well. */
const mostWalked = 8 * mostWorkFiles;

/** What {@link walkFolder} finds. */
export interface WalkedFile {
  readonly path: string;
  readonly facts: Stats;
}

/** How a folder is walked through. */
export interface WalkOptions {
  /** Takes back the rights that a program has taken away, after it is gone. @default false */
  readonly reopens?: boolean;
  /** Called for files that exist but cannot be read: those in closed folders, and paths that are too long. */
  readonly onHidden?: () => void;
}

/** Walks through a folder, up to a limit and without following links. Skips files that are gone or cannot be read. */
export async function* walkFolder(root: string, options: WalkOptions = {}): AsyncGenerator<WalkedFile> {
  const { reopens = false, onHidden = () => {} } = options;
  const passOver = (cause: unknown): undefined => {
    if (!["ENOENT", "ENOTDIR"].includes(String((cause as NodeJS.ErrnoException).code))) onHidden();
  };
  const folders = [root];
  if (reopens) await chmod(root, 0o700).catch(() => {});
  let left = mostWalked;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await opendir(folder).catch(passOver);
    for await (const { name } of entries ?? []) {
      const path = join(folder, name);
      const facts = await lstat(path).catch(passOver);
      if (facts === undefined) continue;
      if (reopens) await reopen(path, facts);
      yield { path, facts };
      if (facts.isDirectory()) folders.push(path);
      if ((left -= 1) === 0) return;
    }
  }
}

async function reopen(path: string, facts: WalkedFile["facts"]): Promise<void> {
  const needed = facts.isDirectory() ? 0o700 : facts.isFile() ? 0o400 : 0;
  if ((facts.mode & needed) !== needed) await chmod(path, needed).catch(() => {});
}
