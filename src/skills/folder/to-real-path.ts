import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Resolves links in the part of a path that is there; the rest may not be made yet, or may just have been deleted. */
export function toRealPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(toRealPath(above), basename(path));
  }
}
