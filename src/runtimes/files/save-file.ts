import { hash, randomBytes } from "node:crypto";
import { constants, copyFileSync, linkSync, lstatSync, readlinkSync, realpathSync, renameSync, rmSync } from "node:fs";
import { chmod, copyFile, open, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { takeFileLock } from "../../platform/file-lock.ts";

/** An output of a call, and where the caller wants it. */
export interface Saving {
  /** In the private folder. */
  readonly source: string;
  readonly target: string;
  /** What was at the target when the call began, as {@link identifyTarget} says it. */
  readonly before: string;
  /** Where the locks are with which programs take turns. */
  readonly locks: string;
}

/** What is at a place, to tell whether another program has changed it since; empty if nothing is there. */
export function identifyTarget(path: string): string {
  const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? "" : `${facts.dev}:${facts.ino}:${facts.size}:${facts.mtimeNs}`;
}

/**
 * Saves an output where the caller named it, whole or not at all, and without following links. What was there is kept beside it as a
 * backup. Rejects if the target is not what it was when the call began: another call or program has written it.
 */
export async function saveFile({ source, target, before, locks }: Saving): Promise<{ readonly backup?: string }> {
  const release = await takeFileLock(join(locks, `save-${hash("sha256", target)}.lock`));
  const parent = await openFolder(dirname(target)).catch((cause: unknown) => {
    release();
    throw cause;
  });
  const draft = join(parent.path, `.kitbag-${randomBytes(8).toString("hex")}.part`);
  const place = join(parent.path, basename(target));
  try {
    const facts = lstatSync(place, { throwIfNoEntry: false });
    // What a tool wrote is no program, unless a program was there.
    const usual = await makeFile(draft);
    await copyHeld(source, draft);
    await chmod(draft, facts?.isFile() === true ? facts.mode & 0o777 : usual);
    if (identifyTarget(place) !== before) {
      throw new Error("another program has written it since the call began, so it was left as it is");
    }
    if (before === "") {
      giveName(draft, place);
      return {};
    }
    const backup = keepBackup(place);
    renameSync(draft, place);
    return { backup: join(dirname(target), backup) };
  } finally {
    rmSync(draft, { force: true });
    await parent.handle.close();
    release();
  }
}

/** Opens a folder, so that what is made in it is made in this one, whatever is put in its place. */
async function openFolder(path: string): Promise<{ readonly handle: FileHandle; readonly path: string }> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const held = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
  const real = held === path ? realpathSync(path) : readlinkSync(held);
  if (real === path) return { handle, path: held };
  await handle.close();
  throw new Error(`its folder was replaced by a link to ${real} since the call began`);
}

/** Makes an empty file; answers with the permissions that this user's files get. */
async function makeFile(path: string): Promise<number> {
  const handle = await open(path, "wx", 0o666);
  try {
    return (await handle.stat()).mode & 0o777;
  } finally {
    await handle.close();
  }
}

async function copyHeld(source: string, draft: string): Promise<void> {
  const handle = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const held = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : source;
    await copyFile(held, draft, constants.COPYFILE_FICLONE);
  } finally {
    await handle.close();
  }
}

/** Gives a file another name, or a copy that name where files have only one. Throws if something is there. */
function giveName(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (cause) {
    if (!["EPERM", "ENOTSUP", "ENOSYS"].includes(String((cause as NodeJS.ErrnoException).code))) throw cause;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
  }
}

/** Gives what is at a place a second name that is free: `report.json.bak`, `report.json.2.bak`. */
function keepBackup(place: string): string {
  for (let count = 1; ; count += 1) {
    const name = `${basename(place)}${count === 1 ? "" : `.${count}`}.bak`;
    try {
      giveName(place, join(dirname(place), name));
      return name;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    }
  }
}
