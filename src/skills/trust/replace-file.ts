import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";

/**
 * Writes a file so that others see it whole or as it was before. A link in its place is replaced, not followed. Throws what the
 * system says, and leaves nothing behind then.
 */
export function replaceFile(path: string, text: string, mode: number): void {
  const draft = `${path}.${randomBytes(6).toString("hex")}.new`;
  try {
    // "x": what somebody else put there, even a link, is not written to.
    const file = openSync(draft, "wx", mode);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause;
  }
}
