import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { KitbagError } from "../core/errors.ts";
import { emptyFile, nothing, type Mount, type Profile, type SandboxName } from "./sandbox.ts";

/** So many files are looked at before a program starts. */
const mostFiles = 200_000;

/**
 * Hides the Unix sockets of the host from a program that may make its own: whoever sees one can talk to the service behind it, even
 * without the right to write. Directories that cannot be looked into are hidden as a whole. A socket that a program of the host makes
 * in a granted directory after the start is not hidden.
 *
 * @throws {KitbagError} `sandbox-failed` if there are too many files to look at
 */
export async function coverSockets(sandbox: SandboxName, profile: Profile): Promise<Profile> {
  if (profile.sockets === undefined) return profile;
  const covers: Mount[] = [];
  const left = profile.mounts.filter(({ granted }) => granted === true);
  let seen = 0;
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const { source, target } = place;
    const entries = await list(source);
    if (entries === undefined) covers.push({ source: nothing, target, shields: source });
    seen += entries?.length ?? 0;
    if (seen > mostFiles) {
      const reason = `more than ${mostFiles} files would have to be searched for Unix sockets; grant a smaller folder than ${source}, or take out sockets = "private"`;
      throw new KitbagError("sandbox-failed", { sandbox, reason });
    }
    for (const entry of entries ?? []) {
      const below = { source: join(source, entry.name), target: join(target, entry.name) };
      if (entry.isSocket()) covers.push({ source: emptyFile, target: below.target, shields: below.source });
      else if (entry.isDirectory()) left.push(below);
    }
  }
  return { ...profile, mounts: [...profile.mounts, ...covers] };
}

interface Entry {
  readonly name: string;
  isSocket(): boolean;
  isDirectory(): boolean;
}

/** What is in a directory; itself, without a name, if it is none, and undefined if that cannot be seen. */
async function list(path: string): Promise<readonly Entry[] | undefined> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // It was removed in the meantime.
    if (code === "ENOENT") return [];
    if (code !== "ENOTDIR") return undefined;
    const facts = await stat(path);
    return [{ name: "", isSocket: () => facts.isSocket(), isDirectory: () => false }];
  }
}
