import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { mkdir, readFile, rename, rm, rmdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const looksEveryMs = 100;
const beatsEveryMs = 5000;
const staleAfterMs = 60_000;

interface Owner {
  readonly token: string;
  readonly machine: string;
  readonly pid: number;
  /** When the process started, so that another one with its number is not taken for it. */
  readonly start: string;
}

/** What to do while somebody else holds a lock. */
export interface WaitOptions {
  readonly signal: AbortSignal;
  readonly onWait?: () => void;
}

/**
 * Waits until no other process holds the lock at `path`, and takes it. A lock whose owner is gone is taken over. Resolves to what
 * gives it back.
 */
export async function takeInstallLock(path: string, { signal, onWait }: WaitOptions): Promise<() => Promise<void>> {
  const token = randomUUID();
  const own = `${path}.${token}`;
  await mkdir(own, { recursive: true });
  const owner: Owner = { token, machine: machine(), pid: process.pid, start: startOf(process.pid) };
  await writeFile(join(own, "owner"), JSON.stringify(owner));
  let waits = false;
  try {
    while (!(await move(own, path))) {
      signal.throwIfAborted();
      if (await removeIfStale(path)) continue;
      if (!waits) onWait?.();
      waits = true;
      await sleep(looksEveryMs, undefined, { signal });
    }
  } catch (cause) {
    await rm(own, { recursive: true, force: true });
    throw cause;
  }
  const beat = setInterval(
    () => void utimes(join(path, "owner"), new Date(), new Date()).catch(() => {}),
    beatsEveryMs,
  );
  beat.unref();
  return async () => {
    clearInterval(beat);
    if ((await readOwner(path))?.token !== token) return;
    // Once it is empty the next one may take the place, and then it is not ours to remove.
    await unlink(join(path, "owner")).catch(() => {});
    await rmdir(path).catch(() => {});
  };
}

/** Renames a directory; false if there is already one that is not empty. */
async function move(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw cause;
  }
}

async function removeIfStale(path: string): Promise<boolean> {
  const owner = await readOwner(path);
  if (owner === undefined || !(await isStale(path, owner))) return false;
  // Two may come to this at once. Only one can put it there: the name is that of the lock they both judged, and not free any more.
  const aside = `${path}.stale-${owner.token}`;
  if (!(await move(path, aside).catch(() => false))) return false;
  setTimeout(() => void rm(aside, { recursive: true, force: true }), staleAfterMs).unref();
  return true;
}

async function isStale(path: string, owner: Owner): Promise<boolean> {
  if (owner.machine === machine()) return startOf(owner.pid) !== owner.start;
  const facts = await stat(join(path, "owner")).catch(() => undefined);
  return facts !== undefined && Date.now() - facts.mtimeMs > staleAfterMs;
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(join(path, "owner"), "utf8")) as Owner;
  } catch {
    // It was given back in the meantime.
    return undefined;
  }
}

/** Process numbers mean something only on this machine, since its last start, and in this namespace. */
function machine(): string {
  return [
    hostname(),
    attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    attempt(() => readlinkSync("/proc/self/ns/pid")),
  ].join(" ");
}

/** When a process started; empty if it does not run. */
function startOf(pid: number): string {
  const facts = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  const fields = facts.slice(facts.lastIndexOf(")") + 2).split(" ");
  if (facts !== "") return fields[0] === "Z" ? "" : (fields[19] ?? "");
  return isRunning(pid) ? "running" : "";
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
