import { statSync } from "node:fs";
import { basename, dirname, isAbsolute, relative } from "node:path";

import type { Mount, Sandbox } from "../../sandbox/sandbox.ts";
import type { Root } from "./inside/wire/messages.ts";

/** Where paths of modules lead. */
export interface RootPlaces {
  readonly sandbox: Sandbox;
  /** What a path without a slash at its start is relative to. */
  readonly directory: string;
}

/**
 * The directories that a module sees for what was granted. A single file is seen in its directory, alone. What is below the
 * working directory is there also under its relative name.
 */
export function toRoots(mounts: readonly Mount[], { sandbox, directory }: RootPlaces): Root[] {
  const roots = new Map<string, Root>();
  for (const mount of mounts.filter(({ granted }) => granted === true)) {
    const isDirectory = statSync(mount.source).isDirectory();
    // Where nothing is mounted, the file is where it is.
    const place = sandbox.keepsPaths === true ? mount.source : mount.target;
    const name = isDirectory ? mount.target : dirname(mount.target);
    const known = roots.get(name) ?? { name, path: isDirectory ? place : dirname(place), only: {} };
    const access = mount.write === true ? "write" : "read";
    roots.set(
      name,
      isDirectory ? { ...known, access } : { ...known, only: { ...known.only, [basename(place)]: access } },
    );
  }
  return [...roots.values()].flatMap((root) => {
    const short = relative(directory, root.name);
    return short.startsWith("..") || isAbsolute(short) ? [root] : [root, { ...root, name: short || "." }];
  });
}
