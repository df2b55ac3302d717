import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** Makes a folder that programs of root, which are other users, can read, whatever the umask is. It may be there already. */
export function makeReadableFolder(path: string): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o755);
}

/** Writes a file that programs of root, which are other users, can read, whatever the umask is. */
export function writeReadableFile(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content);
  chmodSync(path, 0o644);
}

/** As {@link makeReadableFolder}, with all folders between it and those of `made`, to which it adds what it makes. */
export async function makeReadableFolders(path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return;
  await makeReadableFolders(dirname(path), made);
  await mkdir(path);
  await chmod(path, 0o755);
  made.add(path);
}
