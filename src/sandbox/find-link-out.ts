import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

import { isInside } from "../platform/paths.ts";

/** A link that leads elsewhere than further down from the folder that it is in. */
export interface LinkOut {
  /** Where the link is. */
  readonly link: string;
  /** What it leads to; none if that is nothing. */
  readonly target?: string;
}

/**
 * Finds the first symlink between `directory` and `path` that leads out of its own folder: a program that may write that folder could
 * have made the link, and would choose its target. Links above both do not count. With the earlier target of the path, a link that
 * existed only then is found, too.
 */
export function findLinkOut(directory: string, path: string, led?: string): LinkOut | undefined {
  const names = relative(directory, path)
    .split(sep)
    .filter((name) => name !== "");
  const up = names.filter((name) => name === "..").length;
  let start = directory;
  for (let count = 0; count < up; count += 1) start = dirname(start);
  let place = findReal(start) ?? start;
  for (const [index, name] of names.entries()) {
    if (index < up) continue;
    const next = join(place, name);
    const isLink = isLinkAt(next);
    const target = isLink === true ? findReal(next) : next;
    if (target === undefined) return { link: next };
    if (!isInside(target, place)) return { link: next, target };
    place = isLink === undefined ? join(place, ...names.slice(index)) : target;
    if (isLink === undefined) break;
  }
  return led === undefined || led === place ? undefined : { link: path, target: led };
}

/** Nothing if there is nothing. */
function isLinkAt(path: string): boolean | undefined {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return undefined;
  }
}

/** Where a path really leads; undefined if that is nothing. */
export function findReal(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Tells whether a path is below a directory, and not the directory itself. */
export function isBelow(path: string, directory: string): boolean {
  return path !== directory && isInside(path, directory);
}
