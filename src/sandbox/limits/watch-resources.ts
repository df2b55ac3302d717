import { closeSync, openSync, readdirSync, readFileSync, readSync, statfsSync, statSync } from "node:fs";

import type { Limits } from "../sandbox.ts";

/**
 * Looks for something every 100 ms while a program runs, and calls `onFound` once with what was found. Answers with a function that
 * ends it.
 */
export function watchFor<Found>(
  find: () => Found | undefined,
  onFound: (found: Found) => void,
  everyMs = 100,
): () => void {
  const timer = setInterval(() => {
    const found = find();
    if (found === undefined) return;
    clearInterval(timer);
    onFound(found);
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** What of a program is looked after: the kernel may count the rest. */
interface MemoryWatch {
  readonly pid: number;
  readonly limits: Pick<Limits, "memoryBytes" | "temporaryBytes">;
  /** A control group counts its processes and files, but on many kernels not the buffers of its sockets. @default false */
  readonly isCounted?: boolean;
  /** Its sockets are in namespaces of their own, and it counts them itself. @default false */
  readonly isServer?: boolean;
  /** How often it looks. @default 100 */
  readonly everyMs?: number;
}

/**
 * Looks after the memory of a program and all it started, where the kernel does not: calls `onExceeded` once when they have more than
 * they may, with their temporary files and the buffers of their sockets. Memory in other forms is refused by the system-call filter.
 * Answers with a function that ends it.
 */
export function watchMemory({ everyMs, ...watch }: MemoryWatch, onExceeded: () => void): () => void {
  return watchFor(() => isExceeded(watch) || undefined, onExceeded, everyMs);
}

/** Reads the long tables of the kernel, of mappings and of connections, only if the short ones leave a doubt. */
function isExceeded({ pid, limits, isCounted = false, isServer = false }: MemoryWatch): boolean {
  const inside = findInnermost(pid);
  const processes = isCounted ? [] : listTree(pid).map(readProcess);
  const files = inside === undefined || isCounted ? 0 : measureFiles(inside, limits.temporaryBytes);
  const network = inside === undefined || isServer ? noSockets : readSockets(inside);
  let bytes = sum(processes.map(({ ownBytes }) => ownBytes)) + files + network.bytes;
  const mappedBytes = sum(processes.map((process) => process.mappedBytes));
  if (bytes + mappedBytes + network.mostTcpBytes <= limits.memoryBytes) return false;
  bytes += measureShared(processes);
  if (bytes + network.mostTcpBytes <= limits.memoryBytes) return false;
  return bytes + (inside === undefined ? 0 : measureConnections(inside)) > limits.memoryBytes;
}

/** Bytes that a process and all it started have of their own, as far as the kernel tells. */
export function measureTree(pid: number): number {
  const processes = listTree(pid).map(readProcess);
  return sum(processes.map(({ ownBytes }) => ownBytes)) + measureShared(processes);
}

/** A process and all it started, from whichever of its threads. */
function listTree(pid: number): readonly number[] {
  const lists = listThreads(pid).map((thread) => read(`/proc/${pid}/task/${thread}/children`));
  const children = lists.join("").split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(listTree)];
}

function listThreads(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    // It ended in the meantime.
    return [];
  }
}

interface ProcessMemory {
  readonly pid: number;
  /** Private pages, in memory or swapped out, and the page tables. */
  readonly ownBytes: number;
  /** Pages that it shares with other processes and has in its page tables: it may hold more. */
  readonly sharedBytes: number;
  /** All of its address space in which shared memory can be. */
  readonly mappedBytes: number;
}

function readProcess(pid: number): ProcessMemory {
  const facts = new Map(
    [...read(`/proc/${pid}/status`).matchAll(/^(\w+):\s*(\d+) kB/gmu)].map(([, name, size]) => [name, Number(size)]),
  );
  const bytesOf = (name: string): number => (facts.get(name) ?? 0) * 1024;
  return {
    pid,
    ownBytes: bytesOf("RssAnon") + bytesOf("VmSwap") + bytesOf("VmPTE"),
    sharedBytes: bytesOf("RssShmem"),
    mappedBytes: bytesOf("VmSize") - bytesOf("VmData") - bytesOf("VmStk"),
  };
}

/** A program can make this table so long that reading it would hold up this process. */
const mostMapBytes = 512 * 1024;

/**
 * Bytes of shared memory. A process can drop its pages of it from its page tables, and they are still held: the size of each piece
 * counts, once for all processes that have it.
 */
function measureShared(processes: readonly ProcessMemory[]): number {
  const sizes = new Map<string, number>();
  for (const { pid } of processes) {
    const map = readShort(`/proc/${pid}/maps`, mostMapBytes);
    // What cannot be read counts as if all of it were shared memory. A process that has ended meanwhile has none.
    if (map === undefined) sizes.set(`process ${pid}`, readProcess(pid).mappedBytes);
    for (const [, start = "", end = "", offset = "", inode = ""] of (map ?? "").matchAll(sharedMemory)) {
      const size = parseInt(offset, 16) + parseInt(end, 16) - parseInt(start, 16);
      sizes.set(inode, Math.max(size, sizes.get(inode) ?? 0));
    }
  }
  return Math.max(sum([...sizes.values()]), sum(processes.map(({ sharedBytes }) => sharedBytes)));
}

/** A line of the table of mappings: the kernel gives shared memory without a file the name of a device, and a number of its own. */
const sharedMemory = /^([\da-f]+)-([\da-f]+) ...s ([\da-f]+) \S+ (\d+) +\/dev\/zero \(deleted\)$/gmu;

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

/** What a socket may hold: the filter ignores wishes for larger buffers. The kernel lets only those of TCP grow. */
export const socketBytes = Math.max(
  ...["wmem_default", "rmem_default"].map((name) => Number(read(`/proc/sys/net/core/${name}`) || 212_992)),
);

interface SocketMemory {
  /** What all sockets may hold, if no buffer has grown. */
  readonly bytes: number;
  /** What the TCP connections of the whole machine hold: those of a network namespace hold no more. */
  readonly mostTcpBytes: number;
}

const noSockets: SocketMemory = { bytes: 0, mostTcpBytes: 0 };
const pageBytes = 4096;

/** The sockets of a network namespace; none for a process that is still in that of the host. */
function readSockets(pid: number): SocketMemory {
  const path = `/proc/${pid}/net/sockstat`;
  // The kernel has such a file for each namespace, and each has a number of its own.
  const numberOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;
  if (numberOf(path) === numberOf("/proc/self/net/sockstat")) return noSockets;
  const facts = read(path);
  return {
    bytes: socketBytes * Number(/^sockets: used (\d+)/mu.exec(facts)?.[1] ?? 0),
    mostTcpBytes: pageBytes * Number(/^TCP: .* mem (\d+)/mu.exec(facts)?.[1] ?? 0),
  };
}

/** Bytes that wait in the TCP connections of a network namespace, beyond those that count for every socket. */
function measureConnections(pid: number): number {
  const tables = ["tcp", "tcp6"].map((name) => read(`/proc/${pid}/net/${name}`)).join("");
  const waiting = [...tables.matchAll(/ ([\dA-F]{8}):([\dA-F]{8}) [\dA-F]{2}:/gu)];
  return sum(
    waiting.map(([, sent = "", received = ""]) =>
      Math.max(parseInt(sent, 16) + parseInt(received, 16) - socketBytes, 0),
    ),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The text of a file; undefined if it is longer, or cannot be read. */
function readShort(path: string, mostBytes: number): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const bytes = Buffer.allocUnsafe(mostBytes);
    let length = 0;
    for (let count = 1; count > 0 && length < mostBytes; length += count) {
      count = readSync(file, bytes, length, mostBytes - length, null);
    }
    return length < mostBytes ? bytes.toString("latin1", 0, length) : undefined;
  } catch {
    // It ended in the meantime, or hides from us.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // It ended in the meantime.
    return "";
  }
}

/** Directories of a program that are in memory. Their size is bounded, but not how many files are in them. */
const temporaryDirectories = ["tmp", "dev/shm"];

/** As many files as a program may have in each of its private directories; without a bound, empty ones would fill the memory. */
export const mostFiles = 16_384;

/** Looks after how many files a program makes, where the kernel was not told: calls `onExceeded` once when there are too many. */
export function watchFiles(pid: number, onExceeded: () => void): () => void {
  return watchFor(() => hasManyFiles(pid) || undefined, onExceeded);
}

function hasManyFiles(pid: number): boolean {
  const inside = findInnermost(pid);
  if (inside === undefined) return false;
  return temporaryDirectories.some((directory) => countFiles(`/proc/${inside}/root/${directory}`) > mostFiles);
}

function countFiles(directory: string): number {
  try {
    const { type, files, ffree } = statfsSync(directory);
    return type === temporaryFileSystem ? files - ffree : 0;
  } catch {
    // It ended in the meantime, or hides from us.
    return 0;
  }
}

const temporaryFileSystem = 0x0102_1994;

/** Only processes that have entered see the private directories: the last one that was started is inside, if any is. */
function findInnermost(pid: number): number | undefined {
  const inside = lastOf(pid);
  return inside === pid ? undefined : inside;
}

function lastOf(pid: number): number {
  try {
    // One that was started earlier may only wait for the end of this process.
    const child = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").at(-1);
    return child === undefined || child === "" ? pid : lastOf(Number(child));
  } catch {
    return pid;
  }
}

/** How many files a process may have open. */
interface OpenFileLimit {
  /** What it may have now. */
  readonly soft: number;
  /** What it may set itself, and what it starts. */
  readonly hard: number;
}

/** Reads the limit of this process; no limit where the system does not tell. */
export function readOpenFileLimit(table = readTable()): OpenFileLimit {
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/mu.exec(table) ?? [];
  return { soft: toNumber(soft), hard: toNumber(hard) };
}

function readTable(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    // Only Linux has it.
    return "";
  }
}

function toNumber(word = "unlimited"): number {
  return word === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(word);
}
