import { realpathSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { SkillFile } from "../../core/skill.ts";
import { isInside } from "../../platform/paths.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { toDigest } from "../../platform/digest.ts";

/** A file that is what it was when it was shown. */
export interface ShownFile {
  readonly bytes: Uint8Array;
  /** Where it really is: a link in a folder may stand for another file of it. */
  readonly path: string;
}

/**
 * Reads a file of a folder, only if its bytes are those that were hashed.
 *
 * @throws {KitbagError} `script-changed`
 */
export function readShown(directory: string, { path, bytes, digest }: SkillFile): ShownFile {
  try {
    const real = realpathSync.native(join(directory, path));
    const reading = isInside(real, directory) ? readRegularFile(real, { maxBytes: bytes }) : undefined;
    if (reading?.ok === true && toDigest(reading.bytes) === digest) return { bytes: reading.bytes, path: real };
  } catch {
    // It is gone: that is a change, too.
  }
  throw new KitbagError("script-changed", { path });
}
