import { closeSync, constants, openSync, readlinkSync } from "node:fs";

import type { Root } from "../wire/messages.ts";
import { WasiError } from "./errno.ts";

/** A directory that paths begin at. Nothing above it can be reached from it. */
export interface Directory extends Pick<Root, "access" | "only"> {
  /** A descriptor of the process. */
  readonly handle: number;
}

/** Where a path leads: a name in a directory that is open, which is no link that anybody would follow. */
export interface Place extends Pick<Root, "access" | "only"> {
  /** For the functions of `fs`, as long as the place is open; none of them may follow a link at its end. */
  readonly path: string;
  close(): void;
}

/** Opens a directory only to go on from there. Node does not list the flag; it is the same on every Linux that Node runs on. */
const openPath = 0o10_000_000;
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

  function up(): void {
    const handle = opened.pop();
    if (handle === undefined) throw new WasiError("notcapable");
    closeSync(handle);
  }

  try {
    for (;;) {
      const name = rest.pop() ?? ".";
      const isLast = rest.length === 0;
      const place = `/proc/self/fd/${opened.at(-1) ?? from.handle}/${name}`;
      if (name === "..") up();
      else if (name !== ".") {
        const access = opened.length > 0 ? from.access : accessTo(from, name);
        if (access === undefined) throw new WasiError("noent");
        if (isLast) {
          if (!follow || !expand(place)) return { path: place, access, only: {}, close };
        } else if (!openNext(opened, place) && !expand(place)) throw new WasiError("notdir");
      } else if (isLast) {
        const only = opened.length > 0 ? {} : from.only;
        return { path: place, only, close, ...(from.access !== undefined && { access: from.access }) };
      }
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
