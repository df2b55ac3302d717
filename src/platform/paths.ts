import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";

import { quote } from "../core/errors.ts";

/** Tells whether `path` is `root` or below it, by whole names. Both are absolute; they are compared as they stand. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Resolves links in the part of a path that exists; the rest may not have been made yet, or may just have been deleted. */
export function toRealPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(toRealPath(above), basename(path));
  }
}

/** A path for a message: as it is, or in quotes if something in it would not be shown as a letter. */
export function showPath(path: string): string {
  // Nearly all are like this, and other letters take a while to tell from signs.
  if (/^[\x20-\x7E]{1,200}$/u.test(path)) return path;
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,200}$/u.test(path) ? path : quote(path);
}
