import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isOpenToTools, isRoot, toolGroup } from "./host.ts";
import { holdFolder, isHeld } from "./hold-folder.ts";

/**
 * Directories for what sandboxes need on disk. No other user of the machine can enter them. Programs of root are other users: they can
 * pass through all but the private one, by their group.
 */
export interface WorkArea {
  /** All of them are below it; no tool may see it. */
  readonly root: string;
  /** Kept between processes: only for what is named by its content. */
  readonly kept: string;
  /** Of this process; removed with it. */
  readonly own: string;
  /** Of this process, and only this user can enter it. */
  readonly private: string;
  remove(): Promise<void>;
}

/** Makes the directories of this process, and removes those of processes that are gone. */
export function openWorkArea(parent = findParent()): WorkArea {
  mkdirSync(parent, { recursive: true });
  const area = openArea(realpathSync(parent));
  const kept = join(area, "kept");
  mkdirSync(kept, { recursive: true });
  const own = mkdtempSync(join(area, `run-${process.pid}-`));
  for (const directory of [area, kept, own]) closeToOthers(directory);
  const secret = join(own, "private");
  mkdirSync(secret, { mode: 0o700 });
  const release = holdFolder(own);
  void removeLeftovers(area);
  // A process that was ended a moment ago may still make a file there.
  const remove = (): Promise<void> => {
    release();
    return rm(own, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  return { root: area, kept, own, private: secret, remove };
}

/** The folder for temporary files; of root, one that programs of root, which are other users, can pass through. */
function findParent(): string {
  const usual = tmpdir();
  if (!isRoot) return usual;
  return [usual, ...commonFolders].find((folder) => existsSync(folder) && isOpenToTools(join(folder, "area"))) ?? usual;
}

/** Where every user may make folders. */
const commonFolders = ["/tmp", "/var/tmp", "/dev/shm"];

/** Not every user has a name, as in containers; systems without numbers have one user a directory. */
function ownUser(): number {
  return process.getuid?.() ?? 0;
}

/**
 * The directory of this user, made if there is none. Any user can make one of this name first: it is left alone, and one is taken
 * whose name cannot be foreseen.
 */
function openArea(parent: string): string {
  const name = `kitbag-work-${ownUser()}`;
  const usual = join(parent, name);
  makeClosed(usual);
  if (isOwn(usual)) return usual;
  const others = readdirSync(parent).filter((other) => other.startsWith(`${name}-`));
  return others.map((other) => join(parent, other)).find(isOwn) ?? mkdtempSync(`${usual}-`);
}

function makeClosed(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
  }
}

function isOwn(directory: string): boolean {
  const facts = lstatSync(directory);
  return facts.isDirectory() && facts.uid === ownUser();
}

function closeToOthers(directory: string): void {
  if (isRoot) chownSync(directory, 0, toolGroup);
  chmodSync(directory, isRoot ? 0o710 : 0o700);
}

/** Removes what processes left that are gone. The number in a name says nothing: the process may be in another container. */
async function removeLeftovers(area: string): Promise<void> {
  for (const name of readdirSync(area).filter((entry) => /^run-\d+-/u.test(entry))) {
    const folder = join(area, name);
    if (!(await isHeld(folder))) await rm(folder, { recursive: true, force: true });
  }
}
