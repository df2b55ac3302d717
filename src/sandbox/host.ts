import { statSync } from "node:fs";
import { dirname, join } from "node:path";

import { findProgram } from "./programs.ts";
import type { Mount } from "./sandbox.ts";

/** Root never runs a tool itself; these users own nothing. */
const firstUser = 60_000;
const users = 1000;

/** Whether this process is root, so that programs must become somebody else. */
export const isRoot = process.getuid?.() === 0;

let started = 0;

/** A user that no other running sandbox of this process is, and other processes hardly are. */
export function nextUser(): number {
  return firstUser + ((process.pid * 37 + started++) % users);
}

/** All users that programs may become where this process is root. */
export function toolUsers(): number[] {
  return Array.from({ length: users }, (_, index) => firstUser + index);
}

/** Whether a user who owns nothing can pass through all directories above `path`. */
export function isOpenToAll(path: string): boolean {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    if ((statSync(directory).mode & 0o001) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}

/** What root must do before it becomes somebody else. */
export interface Prelude {
  /** Files of control groups that the program joins. */
  readonly groups: readonly string[];
  /** Mounts that only root can reach, or that the program shall own, and where they are put instead. */
  readonly staged: readonly { readonly mount: Mount; readonly place: string }[];
  readonly user: number;
}

const joinGroups = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"';
const mountAll = 'while [ "$1" != -- ]; do mount --rbind -- "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"';

/** The words in front of a command that let it join control groups. */
export function toJoin(groups: readonly string[]): readonly string[] {
  return groups.length === 0 ? [] : ["/bin/sh", "-c", joinGroups, "kitbag", ...groups, "--"];
}

/** Puts in front of `command` what root must do first: join control groups, stage mounts, become somebody else. */
export function withPrelude(prelude: Prelude, command: readonly string[]): readonly string[] {
  const { groups, staged, user } = prelude;
  const plain = staged.filter(({ mount }) => mount.granted !== true);
  const owned = staged.filter(({ mount }) => mount.granted === true);
  const pairs = (list: typeof staged): string[] => list.flatMap(({ mount, place }) => [mount.source, place]);
  return [
    ...toJoin(groups),
    ...(staged.length === 0 ? [] : [need("unshare"), "--mount", "--propagation", "private", "--"]),
    ...(plain.length === 0 ? [] : ["/bin/sh", "-c", mountAll, "kitbag", ...pairs(plain), "--"]),
    ...(owned.length === 0 ? [] : [need("perl"), insideFile("own-mounts.pl"), String(user), ...pairs(owned), "--"]),
    need("setpriv"),
    ...[`--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"],
    ...command,
  ];
}

/** A program of ours that helps to make a sandbox. */
export function insideFile(name: string): string {
  return join(import.meta.dirname, "inside", name);
}

function need(name: string): string {
  return findProgram(name) ?? name;
}
