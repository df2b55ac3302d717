import { relative, sep } from "node:path";

/** Tells whether `path` is `root` or below it, by whole names. Both are absolute, with links resolved. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || (!way.startsWith(`..${sep}`) && way !== ".." && !/^(?:[A-Za-z]:)?[\\/]/u.test(way));
}
