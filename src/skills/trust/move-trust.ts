import { join, relative } from "node:path";

import { isInside } from "../../platform/paths.ts";
import { loadTrust, updateTrust } from "./trust-file.ts";

/**
 * Moves the trust entries of a project to its new folder, also entries whose trust was removed. They replace the entries of a project
 * that was in that folder before. Code still runs only if it has the same digests.
 *
 * @throws {KitbagError} `config-invalid` if the list cannot be read or written.
 */
export async function moveTrust(home: string, from: string, to: string): Promise<void> {
  const { configs, folders } = loadTrust(home);
  if (![...configs.keys(), ...folders.keys()].some((path) => isInside(path, from))) return;
  const move = (path: string): string => (isInside(path, from) ? join(to, relative(from, path)) : path);
  await updateTrust(home, (trusted) => {
    moveEntries(trusted.folders, move, (files) => files);
    moveEntries(trusted.grants, move, (granted) => granted);
    moveEntries(trusted.configs, move, (files) => new Map([...files].map(([path, digest]) => [move(path), digest])));
  });
}

function moveEntries<Entry>(
  entries: Map<string, Entry>,
  move: (path: string) => string,
  moveEntry: (entry: Entry) => Entry,
): void {
  for (const [path, entry] of [...entries]) {
    const moved = move(path);
    if (moved === path) continue;
    entries.delete(path);
    entries.set(moved, moveEntry(entry));
  }
}
