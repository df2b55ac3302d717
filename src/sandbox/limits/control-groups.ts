import { randomBytes } from "node:crypto";
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { join } from "node:path";

import type { Limits } from "../sandbox.ts";

/** Control groups of one program. */
export interface GroupMembership {
  /** Files to write 0 to, for a process to join. */
  readonly files: readonly string[];
  /** Removes the groups when the program is gone, and tells whether its memory ended it. */
  leave(): { readonly outOfMemory: boolean };
}

/** Makes control groups: limits that the kernel keeps for a program and all it starts together. */
export interface ControlGroups {
  /** Which version of them the kernel has here. */
  readonly version: 1 | 2;
  make(limits: Limits): GroupMembership;
  close(): void;
}

/** Several sandboxes of this process must not share a group. */
let made = 0;

/** What the names of this process's groups begin with. */
const ownNames = new Set<string>();

/** The processes that set up a sandbox count, too. */
const helperProcesses = 8;

/** Finds control groups that this user may make; undefined if it may make no groups. */
export function findControlGroups(root = "/sys/fs/cgroup", own = "/proc/self/cgroup"): ControlGroups | undefined {
  let table: string;
  try {
    table = readFileSync(own, "utf8");
  } catch {
    return undefined;
  }
  return findVersion1(root, table) ?? findVersion2(root, table);
}

function findVersion1(root: string, table: string): ControlGroups | undefined {
  const paths = ["memory", "pids"].map((name) => {
    const path = new RegExp(`^\\d+:(?:[^:]*,)?${name}(?:,[^:]*)?:(.*)$`, "mu").exec(table)?.[1];
    return path === undefined ? undefined : join(root, name, path);
  });
  const [memory, pids] = paths;
  if (memory === undefined || pids === undefined || !mayWrite(memory) || !mayWrite(pids)) return undefined;
  return createGroups(1, [memory, pids], ([ownMemory = "", ownPids = ""], limits) => {
    const bytes = String(limits.memoryBytes);
    put(ownMemory, "memory.limit_in_bytes", bytes);
    tryPut(ownMemory, "memory.memsw.limit_in_bytes", bytes);
    put(ownPids, "pids.max", String(limits.processes + helperProcesses));
    return () => /^oom_kill [1-9]/mu.test(read(ownMemory, "memory.oom_control"));
  });
}

function findVersion2(root: string, table: string): ControlGroups | undefined {
  const path = /^0::(.*)$/mu.exec(table)?.[1];
  const base = path === undefined ? undefined : join(root, path);
  if (base === undefined || !mayWrite(base) || !hasControllers(base)) return undefined;
  return createGroups(2, [base], ([group = ""], limits) => {
    put(group, "memory.max", String(limits.memoryBytes));
    tryPut(group, "memory.swap.max", "0");
    put(group, "pids.max", String(limits.processes + helperProcesses));
    return () => /^oom_kill [1-9]/mu.test(read(group, "memory.events"));
  });
}

/** Groups below `base` have limits only if `base` hands them on, which it cannot while it has processes of its own. */
function hasControllers(base: string): boolean {
  if (!areHandedOn(base)) tryPut(base, "cgroup.subtree_control", "+memory +pids");
  return areHandedOn(base);
}

function areHandedOn(base: string): boolean {
  const controllers = read(base, "cgroup.subtree_control").split(/\s+/u);
  return controllers.includes("memory") && controllers.includes("pids");
}

type SetLimits = (groups: readonly string[], limits: Limits) => () => boolean;

function createGroups(version: 1 | 2, bases: readonly string[], setLimits: SetLimits): ControlGroups | undefined {
  // A process before this one may have had the same number, and left something running.
  const name = `kitbag-${process.pid}-${randomBytes(4).toString("hex")}`;
  ownNames.add(name);
  for (const base of bases) removeLeftovers(base);
  const groups: ControlGroups = {
    version,
    make(limits) {
      const own = bases.map((base) => join(base, `${name}-${made}`));
      made++;
      for (const group of own) mkdirSync(group);
      const isOutOfMemory = setLimits(own, limits);
      return {
        files: own.map((group) => join(group, "cgroup.procs")),
        leave() {
          const outOfMemory = isOutOfMemory();
          for (const group of own) void remove(group);
          return { outOfMemory };
        },
      };
    },
    close() {
      for (const base of bases) removeOwn(base, name);
    },
  };
  return works(groups) ? groups : undefined;
}

/** Some systems let a group be made and then refuse its limits. */
function works(groups: ControlGroups): boolean {
  try {
    const probe = groups.make({
      memoryBytes: 1e8,
      cpuSeconds: 1,
      processes: 8,
      openFiles: 8,
      fileBytes: 1,
      temporaryBytes: 1,
    });
    probe.leave();
    return true;
  } catch {
    groups.close();
    return false;
  }
}

/** A group has processes for a moment after they ended. */
async function remove(group: string): Promise<void> {
  for (const ms of [0, 5, 20, 100, 500]) {
    if (ms > 0) await wait(ms, undefined, { ref: false });
    try {
      return rmdirSync(group);
    } catch (cause) {
      // The next try, or the next process of ours, removes it.
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return;
    }
  }
}

function removeOwn(base: string, name: string): void {
  for (const entry of list(base)) if (entry.startsWith(`${name}-`)) tryRemove(join(base, entry));
}

function removeLeftovers(base: string): void {
  for (const entry of list(base)) {
    const [, name, pid] = /^(kitbag-(\d+)-[0-9a-f]{8})-\d+$/u.exec(entry) ?? [];
    if (name === undefined || pid === undefined || ownNames.has(name)) continue;
    // In a container every Kitbag has the same number: one before this one is gone.
    const isGone = pid === String(process.pid) || !list("/proc").includes(pid);
    // A process of another container is not in our list: what it has just made is left alone, and what it uses cannot be removed.
    if (isGone && isOld(join(base, entry))) tryRemove(join(base, entry));
  }
}

function isOld(group: string): boolean {
  const facts = statSync(group, { throwIfNoEntry: false });
  return facts !== undefined && Date.now() - facts.mtimeMs > oldMs;
}

const oldMs = 60_000;

function tryRemove(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // Something still runs in it.
  }
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function mayWrite(directory: string): boolean {
  try {
    accessSync(join(directory, "cgroup.procs"), constants.W_OK);
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function put(group: string, file: string, text: string): void {
  writeFileSync(join(group, file), text);
}

function tryPut(group: string, file: string, text: string): void {
  try {
    put(group, file, text);
  } catch {
    // Not every kernel has it.
  }
}

function read(group: string, file: string): string {
  try {
    return readFileSync(join(group, file), "utf8");
  } catch {
    return "";
  }
}
