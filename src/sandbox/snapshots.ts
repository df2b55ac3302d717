import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { chmod, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";

import { KitbagError } from "../core/errors.ts";
import { isExhausted } from "../core/error-texts.ts";
import type { CodeFolder } from "../core/script-code.ts";
import { isRoot, makeReadableFolders } from "./host.ts";

/** Copies of folders, made of exactly the bytes that were checked: programs see these, never the original folder, which may be edited. */
export interface Snapshots {
  /** The copy of a folder; `change` may rewrite a file on its way, and must do the same for the same bytes. */
  take(folder: CodeFolder): Promise<string>;
}

/** Rewrites files of a snapshot, such as TypeScript to what Node runs as it is; answers with nothing to keep a file. */
export type RewriteFile = (path: string, bytes: Uint8Array) => Uint8Array | string | undefined;

/** Makes snapshots in `directory`, each folder once as long as it does not change. */
export function createSnapshots(directory: string, rewrite: RewriteFile = () => undefined): Snapshots {
  const taken = new Map<string, Promise<string>>();
  let made = 0;
  return {
    take(folder) {
      const key = `${folder.digest}\0${folder.directory}`;
      let snapshot = taken.get(key);
      if (snapshot === undefined) {
        snapshot = copy(folder, join(directory, `snapshot-${made++}`), rewrite);
        taken.set(key, snapshot);
        snapshot.catch(() => taken.delete(key));
      }
      return snapshot;
    },
  };
}

async function copy(folder: CodeFolder, target: string, rewrite: RewriteFile): Promise<string> {
  const making = `${target}.part`;
  try {
    const made = new Set([dirname(making)]);
    await makeReadableFolders(making, made);
    for (const { path, digest, bytes: size } of folder.files) {
      const place = resolve(making, path);
      // The list was checked when it was made; a path that leads out is no file of this folder.
      if (!place.startsWith(making + sep)) throw new KitbagError("script-changed", { path });
      const { bytes, mode } = await readChecked(join(folder.directory, path), { digest, size });
      await makeReadableFolders(dirname(place), made);
      await writeFile(place, rewrite(path, bytes) ?? bytes);
      await chmod(place, toMode(mode));
    }
    await rename(making, target);
    return target;
  } catch (cause) {
    await rm(making, { recursive: true, force: true });
    throw cause;
  }
}

/** As the original, but that programs of root, which are other users, may read what its owner may: no user but them comes this far. */
function toMode(mode: number): number {
  const owner = (mode & 0o700) | 0o400;
  return isRoot ? owner | ((owner >> 3) & 0o050) | ((owner >> 6) & 0o005) : owner | (mode & 0o077);
}

async function readChecked(
  path: string,
  { digest, size }: { digest: string; size: number },
): Promise<{ bytes: Uint8Array; mode: number }> {
  // A link or a pipe in place of the file must not be followed or waited for.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: unknown) => {
      if (isExhausted(cause)) throw cause;
      throw new KitbagError("script-changed", { path });
    },
  );
  try {
    const facts = await file.stat();
    // What is larger now is not read at all: it could fill the memory.
    if (!facts.isFile() || facts.size !== size) throw new KitbagError("script-changed", { path });
    const bytes = await file.readFile();
    const found = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (found !== digest) throw new KitbagError("script-changed", { path });
    return { bytes, mode: facts.mode };
  } finally {
    await file.close();
  }
}
