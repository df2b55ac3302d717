import { closeSync, constants, openSync, readlinkSync } from "node:fs";

import type { Root } from "../wire/messages.ts";
import { WasiError } from "./errno.ts";

/** A directory that paths begin at. Nothing above it can be reached from it. */
export interface Directory extends Pick<Root, "access" | "only"> {
  /** A descriptor of the process. */
  readonly handle: number;
}

/** Where a path leads: a name in a directory that is open, which is not a link that would be followed. */
export interface Place extends Pick<Root, "access" | "only"> {
  /** For the functions of `fs`, as long as the place is open; none of them may follow a link at its end. */
  readonly path: string;
  close(): void;
}

/** Opens a directory only to go on from there. Node does not list the flag; it is the same on every Linux that Node runs on. */
const openPath = 0o10_000_000;
/** How a directory is opened that may be gone on from, but not read. */
export const directoryFlags = openPath | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const maxLinks = 32;
const maxDepth = 64;
const maxPathLength = 4096;

/**
 * Finds where `path` leads, name by name, each looked up in the directory that was opened before it. So it does not matter what
 * others do to the directories meanwhile. Links are followed by us, and only as far as they stay below `from`: there is no way
 * out, neither by `..`, nor by an absolute path, nor by a link. A link at the end is followed if `follow` says so.
 */
export function walk(from: Directory, path: string, follow: boolean): Place {
  const opened: number[] = [];
  const rest = splitPath(path);
  let links = 0;
  const close = (): void => {
    for (const handle of opened.splice(0)) closeSync(handle);
  };

  /** Puts a link's target in the link's place; false if it is no link. */
  function expand(place: string): boolean {
    const target = readLink(place);
    if (target === undefined) return false;
    links += 1;
    if (links > maxLinks) throw new WasiError("loop");
    rest.push(...splitPath(target));
    return true;
  }

  function up(): undefined {
    const handle = opened.pop();
    if (handle === undefined) throw new WasiError("notcapable");
    closeSync(handle);
  }

  /** Takes one step; answers with the place if it was the last. */
  function step(name: string, isLast: boolean): Place | undefined {
    const path = `/proc/self/fd/${opened.at(-1) ?? from.handle}/${name}`;
    const isTop = opened.length === 0;
    if (name === "..") return up();
    if (name === ".") return isLast ? toPlace(path, from.access, isTop ? from.only : {}) : undefined;
    const access = isTop ? accessTo(from, name) : from.access;
    if (access === undefined) throw new WasiError("noent");
    if (isLast) return follow && expand(path) ? undefined : toPlace(path, access, {});
    if (!openNext(opened, path) && !expand(path)) throw new WasiError("notdir");
  }

  function toPlace(path: string, access: Place["access"], only: Place["only"]): Place {
    return { path, only, close, ...(access !== undefined && { access }) };
  }

  try {
    for (;;) {
      const name = rest.pop() ?? ".";
      const place = step(name, rest.length === 0);
      if (place !== undefined) return place;
    }
  } catch (cause) {
    close();
    throw cause;
  }
}

/** The names of a path, the last one first. A slash at the end means that it must be a directory. */
function splitPath(path: string): string[] {
  if (path === "") throw new WasiError("noent");
  if (path.length > maxPathLength) throw new WasiError("nametoolong");
  if (path.startsWith("/")) throw new WasiError("notcapable");
  const names = path.split("/").filter((name) => name !== "");
  if (path.endsWith("/")) names.push(".");
  return names.toReversed();
}

/** What a module may do with an entry right in a directory that was granted; nothing if it does not exist for it. */
export function accessTo({ access, only }: Directory, name: string): "read" | "write" | undefined {
  return Object.hasOwn(only, name) ? only[name] : access;
}

/** Opens a directory on the way; false if it is something else. */
function openNext(opened: number[], place: string): boolean {
  if (opened.length >= maxDepth) throw new WasiError("nametoolong");
  try {
    opened.push(openSync(place, directoryFlags));
    return true;
  } catch (cause) {
    if (hasCode(cause, "ENOTDIR") || hasCode(cause, "ELOOP")) return false;
    throw cause;
  }
}

function readLink(place: string): string | undefined {
  try {
    return readlinkSync(place);
  } catch (cause) {
    if (hasCode(cause, "EINVAL") || hasCode(cause, "ENOENT")) return undefined;
    throw cause;
  }
}

function hasCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && "code" in cause && cause.code === code;
}
