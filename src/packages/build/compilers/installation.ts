import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import type { Mount } from "../../../sandbox/sandbox.ts";

/** Finds the folder of an npm package in the `node_modules` of `folders` and of those above them. It may be a link. */
export function findPackage(name: string, folders: readonly string[]): string | undefined {
  for (const start of folders) {
    for (let folder = start; ; folder = dirname(folder)) {
      const candidate = join(folder, "node_modules", name);
      if (isThere(join(candidate, "package.json"))) return candidate;
      if (dirname(folder) === folder) break;
    }
  }
  return undefined;
}

/** The version of the npm package in a folder. */
export function versionOf(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return version;
}

/** Tells whether there is something at `path` that this user can see. */
export function isThere(path: string): boolean {
  return existsSync(path);
}

/** A directory or file of the host at the same place inside, to be read. */
export function atSamePlace(path: string): Mount {
  const source = realpathSync(path);
  return { source, target: source };
}

/** What changes when a file is replaced by another one. */
export function identityOf(path: string): string {
  const real = realpathSync(path);
  const { size, mtimeMs } = statSync(real);
  return `${real}:${size}:${mtimeMs}`;
}

/**
 * The path under which a program finds its own directories: programs in `/usr/bin` are copies inside, so one that is a link into
 * `/usr/lib` is started there.
 */
export function toOwnPath(program: string): string {
  const real = realpathSync(program);
  return real.startsWith("/usr/lib/") ? real : program;
}
