import { readFileSync, statfsSync, statSync } from "node:fs";

import type { Limits } from "../sandbox.ts";
import { findInnermost, temporaryDirectories } from "./watch-files.ts";

const everyMs = 100;

/** What of a program is looked after: the kernel may count the rest. */
export interface MemoryWatch {
  readonly pid: number;
  readonly limits: Pick<Limits, "memoryBytes" | "temporaryBytes">;
  /** A control group counts its processes and files, but on many kernels not the buffers of its sockets. @default false */
  readonly isCounted?: boolean;
  /** Its sockets are in namespaces of their own, and it counts them itself. @default false */
  readonly isServer?: boolean;
}

/**
 * Looks after the memory of a program and all it started, where the kernel does not: calls `onExceeded` once when they have more than
 * they may, with their temporary files and the buffers of their sockets. Memory in other forms is refused by the system-call filter.
 * Answers with a function that ends it.
 */
export function watchMemory(watch: MemoryWatch, onExceeded: () => void): () => void {
  const timer = setInterval(() => {
    if (measure(watch) <= watch.limits.memoryBytes) return;
    clearInterval(timer);
    onExceeded();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

function measure({ pid, limits, isCounted = false, isServer = false }: MemoryWatch): number {
  const inside = findInnermost(pid);
  const sockets = inside === undefined || isServer ? 0 : measureSockets(inside);
  if (isCounted) return sockets;
  const files = inside === undefined ? 0 : measureFiles(inside, limits.temporaryBytes);
  return measureTree(pid) + files + sockets;
}

/** Bytes that a process and all it started have of their own, as far as the kernel tells. */
export function measureTree(pid: number): number {
  const status = read(`/proc/${pid}/status`);
  const own = ["RssAnon", "RssShmem"].map((name) =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "mu").exec(status)?.[1] ?? 0),
  );
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return (
    own.reduce((sum, kilobytes) => sum + kilobytes * 1024, 0) +
    children.reduce((sum, child) => sum + measureTree(child), 0)
  );
}

/** Bytes of the temporary files of a sandbox. A process that has not entered it yet sees the larger ones of the host. */
function measureFiles(pid: number, mostBytes: number): number {
  return temporaryDirectories.reduce((sum, directory) => {
    try {
      const { bsize, blocks, bfree } = statfsSync(`/proc/${pid}/root/${directory}`);
      return bsize * blocks <= mostBytes + bsize ? sum + bsize * (blocks - bfree) : sum;
    } catch {
      // It ended in the meantime, or hides from us.
      return sum;
    }
  }, 0);
}

/** What a socket may hold: the filter ignores wishes for larger buffers. TCP has a limit of the kernel for the whole machine. */
const socketBytes = Math.max(
  ...["wmem_default", "rmem_default"].map((name) => Number(read(`/proc/sys/net/core/${name}`) || 212_992)),
);

/** Bytes that the sockets of a network namespace may hold; nothing for a process that is still in that of the host. */
function measureSockets(pid: number): number {
  const facts = `/proc/${pid}/net/sockstat`;
  // The kernel has such a file for each namespace, and each has a number of its own.
  const numberOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
  if (numberOf(facts) === numberOf("/proc/self/net/sockstat")) return 0;
  return socketBytes * Number(/^sockets: used (\d+)/mu.exec(read(facts))?.[1] ?? 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // It ended in the meantime.
    return "";
  }
}
