import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { WasmCode } from "../../core/script-code.ts";

/**
 * Reads a tool's module, whose bytes must be those that were hashed.
 *
 * @throws {KitbagError} `script-changed` if they are not, or if the file is gone.
 */
export async function readModule({ directory, path, digest }: WasmCode): Promise<Uint8Array> {
  const file = join(directory, path);
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new KitbagError("script-changed", { path: file }, { cause });
  });
  if (`sha256:${hash("sha256", bytes)}` !== digest) throw new KitbagError("script-changed", { path: file });
  return bytes;
}
