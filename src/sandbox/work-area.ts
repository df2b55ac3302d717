import { execFile } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  utimesSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isOpenToTools, isRoot, toolGroup } from "./host.ts";
import { listenIn } from "./sockets.ts";

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
    return removeTree(own);
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
 * The directory of this user, made if it does not exist. Any user can make one of this name first: it is left alone, and one is taken
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
    if (!(await isHeld(folder))) await removeTree(folder);
  }
}

/** Removes a folder, also one in which a tool has closed folders, or made them so deep that their paths are too long. */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  } catch {
    const script = 'chmod -R u+rwX -- "$1"; rm -rf -- "$1"';
    await new Promise<void>((resolve) => execFile("/bin/sh", ["-c", script, "sh", folder], () => resolve()));
  }
}

/** The socket in a folder that a process listens on as long as it holds the folder. */
const socketName = "held";

/** Holds a folder until this process ends, or until the answered function is called. The kernel ends it with the process. */
export function holdFolder(folder: string): () => void {
  const server = createServer((socket) => socket.destroy());
  // A folder that cannot have a socket is not held: its age decides.
  server.on("error", () => {});
  listenIn(folder, socketName, server);
  server.unref();
  return () => {
    server.close();
    makeOld(folder);
  };
}

/** The socket is gone with its server, and a folder without one is taken as held while it is young: it is old from now on. */
function makeOld(folder: string): void {
  try {
    utimesSync(folder, 0, 0);
  } catch {
    // It is gone.
  }
}

/**
 * Tells whether a process holds a folder, also one that has another list of processes, as in another container. A folder without a socket
 * is taken as held while it is young: its process may just be making it.
 */
export async function isHeld(folder: string): Promise<boolean> {
  const facts = lstatSync(join(folder, socketName), { throwIfNoEntry: false });
  if (facts === undefined) return isYoung(folder);
  return new Promise((resolve) => {
    withShortPath(folder, (path) => {
      const socket = connect(path);
      const answer = (held: boolean): void => {
        socket.destroy();
        resolve(held);
      };
      socket.on("connect", () => answer(true));
      // Only this says that no process listens. One that is too busy to take us still holds it.
      socket.on("error", (cause) => answer((cause as NodeJS.ErrnoException).code !== "ECONNREFUSED"));
    });
  });
}

const youngMs = 3_600_000;

function isYoung(folder: string): boolean {
  const facts = lstatSync(folder, { throwIfNoEntry: false });
  return facts !== undefined && Date.now() - facts.mtimeMs < youngMs;
}

/** As in `listenIn`: the path of a socket must be short. */
function withShortPath(folder: string, use: (path: string) => void): void {
  if (process.platform !== "linux") return use(join(folder, socketName));
  const place = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    use(`/proc/self/fd/${place}/${socketName}`);
  } finally {
    closeSync(place);
  }
}
