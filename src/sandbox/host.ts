import { statSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { HeldMount } from "./hold-places.ts";
import { findProgram } from "./programs.ts";

/** Root never runs a tool itself; these users own nothing. */
const firstUser = 60_000;
const users = 1000;

/** The group of all programs that root starts: it opens the work area to them, and to no other user of the machine. */
export const toolGroup = firstUser;

/** Whether this process is root, so that programs must become another user. */
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

/** Whether the programs that root starts, which own nothing, can pass through all directories above `path`. */
export function isOpenToTools(path: string): boolean {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const { mode, gid } = statSync(directory);
    if ((mode & (gid === toolGroup ? 0o010 : 0o001)) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}

/** What root must do before it becomes another user. */
export interface Prelude {
  /** Files of control groups that the program joins. */
  readonly groups: readonly string[];
  /** Mounts that only root can reach, or that the program shall own, and where they are put instead. */
  readonly staged: readonly { readonly mount: HeldMount; readonly place: string }[];
  readonly user: number;
}

const joinGroups = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"';
const mountAll = 'while [ "$1" != -- ]; do mount --rbind -- "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"';

/** The words in front of a command that let it join control groups. */
export function toJoin(groups: readonly string[]): readonly string[] {
  return groups.length === 0 ? [] : ["/bin/sh", "-c", joinGroups, "kitbag", ...groups, "--"];
}

/** Puts in front of `command` what root must do first: join control groups, stage mounts, become another user. */
export function withPrelude(prelude: Prelude, command: readonly string[]): readonly string[] {
  const { groups, staged, user } = prelude;
  const plain = staged.filter(({ mount }) => mount.held === undefined);
  const held = staged.filter(({ mount }) => mount.held !== undefined);
  return [
    ...toJoin(groups),
    ...(staged.length === 0 ? [] : [need("unshare"), "--mount", "--propagation", "private", "--"]),
    ...(plain.length === 0 ? [] : ["/bin/sh", "-c", mountAll, "kitbag", ...plain.flatMap(toPair), "--"]),
    ...(held.length === 0 ? [] : [need("perl"), insideFile("own-mounts.pl"), String(user), String(toolGroup)]),
    ...held.flatMap(toOwn),
    ...(held.length === 0 ? [] : ["--"]),
    need("setpriv"),
    ...[`--reuid=${user}`, `--regid=${toolGroup}`, "--clear-groups", "--"],
    ...command,
  ];
}

type Staged = Prelude["staged"][number];

function toPair({ mount, place }: Staged): string[] {
  return [mount.source, place];
}

function toOwn({ mount, place }: Staged): string[] {
  const { granted, held, partOf = "", source } = mount;
  return [granted === true ? "own" : "show", held?.identity ?? "", partOf, source, place];
}

/** A program of ours that helps to make a sandbox. */
export function insideFile(name: string): string {
  return join(import.meta.dirname, "inside", name);
}

function need(name: string): string {
  return findProgram(name) ?? name;
}

/** Makes a folder that programs of root, which are other users, can read, whatever the umask is. It may be there already. */
export function makeReadableFolder(path: string): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o755);
}

/** Writes a file that programs of root, which are other users, can read, whatever the umask is. */
export function writeReadableFile(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content);
  chmodSync(path, 0o644);
}

/** As {@link makeReadableFolder}, with all folders between it and those of `made`, to which it adds what it makes. */
export async function makeReadableFolders(path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return;
  await makeReadableFolders(dirname(path), made);
  await mkdir(path);
  await chmod(path, 0o755);
  made.add(path);
}
