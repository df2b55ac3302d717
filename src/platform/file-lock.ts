import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, readlinkSync, rmSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { KitbagError } from "../core/errors.ts";
import { readTextIfExists } from "./files.ts";
import { makeHomeFolder } from "./home.ts";

const longestWaitMs = 30_000;
const beatsEveryMs = 5000;
/** A lock whose owner cannot be looked up, as on another machine, is stale when its owner was silent for so long. */
const silentAfterMs = 60_000;

interface Owner {
  readonly token: string;
  readonly machine: string;
  readonly pid: number;
  /** When the process started, so that another process with its number is not taken for it. */
  readonly start: string;
}

/** What to do while another program holds a lock. */
export interface FileLockOptions {
  /** Ends the waiting. @default it ends by itself only */
  readonly signal?: AbortSignal;
  /** Told once that the lock is held. */
  readonly onWait?: () => void;
}

/**
 * Does `work` while no other program, and no other part of this one, does something under the lock at `path`.
 *
 * @throws {KitbagError} `config-invalid` if another program keeps the lock for too long.
 */
export async function withFileLock<Result>(path: string, work: () => Result | Promise<Result>): Promise<Result> {
  const limit = AbortSignal.timeout(longestWaitMs);
  let release: () => void;
  try {
    release = await takeFileLock(path, { signal: limit });
  } catch (cause) {
    if (!limit.aborted) throw cause;
    const { pid } = parseOwner(readTextIfExists(path)) ?? {};
    const holder = pid === undefined ? "another program" : `process ${pid}`;
    const reason = `${holder} has held this lock for ${longestWaitMs / 1000} s; wait for it, or delete the lock if there is no such process`;
    throw new KitbagError("config-invalid", { path, reason }, { cause });
  }
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * Waits until no other program holds the lock at `path`, and takes it, however long its holder needs. Resolves to what gives it back.
 *
 * **Contract**: the lock is a file that names its owner. It is made by a link, so only one program makes it. A lock whose owner is dead
 * is taken over, by one program only. A lock that was taken over meanwhile is not given back a second time.
 */
export async function takeFileLock(path: string, { signal, onWait }: FileLockOptions = {}): Promise<() => void> {
  const owner: Owner = { token: randomUUID(), machine: machine(), pid: process.pid, start: startOf(process.pid) };
  const text = JSON.stringify(owner);
  let waits = false;
  makeHomeFolder(dirname(path));
  while (!tryTake(path, owner.token, text)) {
    signal?.throwIfAborted();
    if (removeStale(path)) continue;
    if (!waits) onWait?.();
    waits = true;
    await wait(10 + Math.random() * 20, undefined, { signal });
  }
  const beat = setInterval(() => touch(path, text), beatsEveryMs);
  beat.unref();
  return () => {
    clearInterval(beat);
    if (readTextIfExists(path) === text) rmSync(path, { force: true });
  };
}

/** Makes the lock whole, with its owner in it, or not at all. */
function tryTake(path: string, token: string, text: string): boolean {
  const draft = `${path}.${token}`;
  // A draft of every attempt: a program that is killed while it waits leaves none.
  if (readTextIfExists(path) !== undefined) return false;
  try {
    writeFileSync(draft, text, { flag: "wx", mode: 0o600 });
    return link(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Removes a lock whose owner is dead. Two programs may come to this at once, and a third may have taken the lock meanwhile: the program
 * that links the lock to a name that is made of what it judged, and finds the same there, is the only one that removes it.
 */
function removeStale(path: string): boolean {
  const text = readTextIfExists(path);
  if (text === undefined) return false;
  const owner = parseOwner(text);
  if (!isStale(path, owner)) return false;
  const aside = `${path}.stale-${owner?.token ?? "unknown"}`;
  if (!link(path, aside)) {
    // Its program was killed between two lines of this function.
    if (silenceOf(aside, "ctimeMs") > silentAfterMs) rmSync(aside, { force: true });
    return false;
  }
  const isSame = readTextIfExists(aside) === text;
  if (isSame) unlinkSync(path);
  rmSync(aside, { force: true });
  return isSame;
}

function isStale(path: string, owner: Owner | undefined): boolean {
  if (owner?.machine === machine()) return startOf(owner.pid) !== owner.start;
  return silenceOf(path, "mtimeMs") >= silentAfterMs;
}

function silenceOf(path: string, time: "mtimeMs" | "ctimeMs"): number {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts === undefined ? 0 : Date.now() - facts[time];
}

/** Gives a file a second name; false if that is taken, or the file is gone. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST" || code === "ENOENT") return false;
    throw cause;
  }
}

function touch(path: string, text: string): void {
  try {
    if (readTextIfExists(path) === text) utimesSync(path, new Date(), new Date());
  } catch {
    // Only programs of other machines look at the time, and they look again.
  }
}

/** The owner that a lock names; none in a lock that a crash left half written. */
function parseOwner(text = ""): Owner | undefined {
  try {
    const owner = JSON.parse(text) as Partial<Owner> | null;
    return /^[\da-f-]{36}$/u.test(owner?.token ?? "") && Number.isSafeInteger(owner?.pid)
      ? (owner as Owner)
      : undefined;
  } catch {
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
