import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";

import { describeFileError } from "../../skills/folder/describe-file-error.ts";
import { usageError } from "../usage-error.ts";

/** More than any workspace takes unless it is told to: reading on would only cost memory. */
export const maxBytes: number = 256 * 1024 * 1024;

/**
 * The text that a person gives with a flag: of a file if it begins with `@`, else as it is. Two of them stand for one `@`.
 *
 * @throws {KitbagError} `usage-invalid` if the file cannot be read, or is no text.
 */
export function readText(flag: string, given: string, cwd: string): string {
  if (!given.startsWith("@")) return given;
  if (given.startsWith("@@")) return given.slice(1);
  const bytes = readBytes(flag, given, resolve(cwd, given.slice(1))) ?? refuseLong(flag);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usageError(`Cannot read ${flag} ${given}: it is not text in UTF-8`);
  }
}

function readBytes(flag: string, given: string, path: string): Uint8Array | undefined {
  try {
    return statSync(path).size > maxBytes ? undefined : readFileSync(path);
  } catch (cause) {
    throw usageError(`Cannot read ${flag} ${given}: ${describeFileError(cause)}`);
  }
}

/** @throws {KitbagError} `usage-invalid`: what was given is too long. */
export function refuseLong(flag: string): never {
  throw usageError(`Cannot use ${flag}: it is longer than ${maxBytes} bytes`);
}
