import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { join } from "node:path";

/** How much the files below a folder hold. What vanishes meanwhile counts nothing. */
export function findBytes(directory: string): number {
  let bytes = 0;
  for (const item of listFolder(directory)) {
    const path = join(directory, item.name);
    bytes += item.isDirectory() ? findBytes(path) : (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0);
  }
  return bytes;
}

function listFolder(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}
