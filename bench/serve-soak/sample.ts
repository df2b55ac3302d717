/** Reads how the service is, from outside: its processes, what they hold, and what it has written. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Service } from "./service.ts";

/** A process of the service. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  /** Its words, with spaces between. */
  readonly command: string;
}

/** How the service is at one moment. */
export interface Sample {
  /** Of the process that serves, and of all processes. */
  readonly rssMiB: number;
  readonly treeRssMiB: number;
  readonly descriptors: number;
  readonly processes: number;
  readonly zombies: number;
  readonly groups: number;
  readonly mounts: number;
  readonly temporaryEntries: number;
  readonly temporaryKiB: number;
  readonly storeMiB: number;
}

const MiB = 1024 * 1024;
const pageBytes = 4096;

/** All processes below the one that was started. The first is the one that serves. */
export function listProcesses({ pid: top }: Pick<Service, "pid">): readonly Process[] {
  const byParent = Map.groupBy(
    readdirSync("/proc")
      .filter((name) => /^\d+$/u.test(name))
      .flatMap(readProcess),
    ({ parent }) => parent,
  );
  const below = (pid: number): readonly Process[] =>
    (byParent.get(pid) ?? []).flatMap((child) => [child, ...below(child.pid)]);
  const all = [...readProcess(String(top)), ...below(top)];
  const server = all.find(({ command }) => /^\S*node \S+main\.js serve /u.test(command));
  return server === undefined ? all : [server, ...all.filter((one) => one !== server)];
}

/** Takes a sample. What ends meanwhile is not counted. */
export function takeSample(service: Service): Sample {
  const { folders } = service;
  const processes = listProcesses(service);
  const server = processes[0]?.pid ?? 0;
  const temporary = measureFolder(folders.temporary);
  return {
    rssMiB: readRss(server) / MiB,
    treeRssMiB: processes.reduce((sum, { pid }) => sum + readRss(pid), 0) / MiB,
    descriptors: list(`/proc/${server}/fd`).length,
    processes: processes.filter(({ state }) => state !== "Z").length,
    zombies: processes.filter(({ state }) => state === "Z").length,
    groups: countGroups(server),
    mounts: read(`/proc/${server}/mountinfo`).split("\n").length - 1,
    temporaryEntries: temporary.entries,
    temporaryKiB: temporary.bytes / 1024,
    storeMiB: (measureFolder(join(folders.project, ".kitbag")).bytes + measureFolder(folders.home).bytes) / MiB,
  };
}

function readProcess(name: string): readonly Process[] {
  // The name of the program is in brackets, and may have brackets and spaces itself.
  const [state, parent] = read(`/proc/${name}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  if (state === undefined || parent === undefined) return [];
  const command = read(`/proc/${name}/cmdline`).replaceAll("\0", " ");
  return [{ pid: Number(name), parent: Number(parent), state, command }];
}

function readRss(pid: number): number {
  return Number(read(`/proc/${pid}/statm`).split(" ")[1] ?? 0) * pageBytes;
}

/** Kitbag names control groups after its process as it sees itself; both versions of them are looked at. */
function countGroups(server: number): number {
  const own = /^NSpid:.*?(\d+)$/mu.exec(read(`/proc/${server}/status`))?.[1];
  return read(`/proc/${server}/cgroup`)
    .split("\n")
    .flatMap((line) => {
      const [, controller, path] = /^\d+:([^:]*):(.*)$/u.exec(line) ?? [];
      return path === undefined ? [] : list(join("/sys/fs/cgroup", controller ?? "", path));
    })
    .filter((name) => name.startsWith(`kitbag-${own}-`)).length;
}

function measureFolder(folder: string): { readonly entries: number; readonly bytes: number } {
  let [entries, bytes] = [0, 0];
  for (const name of list(folder)) {
    const path = join(folder, name);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    const inside = facts?.isDirectory() === true ? measureFolder(path) : { entries: 0, bytes: 0 };
    entries += 1 + inside.entries;
    bytes += (facts?.isFile() === true ? facts.size : 0) + inside.bytes;
  }
  return { entries, bytes };
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function list(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
