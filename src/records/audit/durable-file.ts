import { link, open, rm } from "node:fs/promises";

/** Writes a new file that only its owner can read, and waits until it is on disk. */
export async function writeSynced(file: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Links `draft` as `file`, unless `file` exists: of several concurrent processes one wins, and no reader sees half a file. */
export async function linkNew(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
  } finally {
    await rm(draft);
  }
}
