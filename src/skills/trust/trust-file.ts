import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { makeHomeFolder, refuseForeignHome } from "../../platform/home.ts";
import { describeFileError, describeForeignOwner, writeFileAtomically } from "../../platform/files.ts";
import { emptyTrust, parseTrust, renderTrust, type TrustList } from "./trust-format.ts";
import { withFileLock } from "../../platform/file-lock.ts";

/** Where one person's trust is written down. */
export function trustPath(home: string): string {
  return join(home, "trust.json");
}

/**
 * Reads what is trusted.
 *
 * @throws {KitbagError} `config-invalid` if the file is not what this program wrote, or others can write to it: then nothing is
 *   trusted until a person has looked.
 */
export function loadTrust(home: string): TrustList {
  const path = trustPath(home);
  let file: number;
  try {
    // A link could lead to a file that another user writes.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR"].includes(code)) return emptyTrust();
    if (code === "EACCES") refuseForeignHome(home);
    const isLink = code === "ELOOP";
    throw untrustworthy(path, isLink ? "it is a symbolic link" : describeFileError(cause), cause);
  }
  try {
    checkOwner(file, path);
    return parseTrust(readFileSync(file, "utf8"));
  } catch (cause) {
    if (cause instanceof KitbagError) throw cause;
    throw untrustworthy(path, (cause as Error).message, cause);
  } finally {
    closeSync(file);
  }
}

function checkOwner(file: number, path: string): void {
  const { mode, uid, size } = fstatSync(file);
  if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw untrustworthy(path, "it is not a file");
  if (size > 64 * 1024 * 1024) throw untrustworthy(path, "it is larger than 64 MiB");
  const foreign = describeForeignOwner({ uid });
  if (foreign !== undefined) throw untrustworthy(path, foreign);
  // Windows has no such bits; there the folder of the user protects the file.
  if (process.getuid !== undefined && (mode & 0o022) !== 0) throw untrustworthy(path, "other users can write to it");
}

function untrustworthy(path: string, reason: string, cause?: unknown): KitbagError {
  const cure = "nothing is trusted until you have looked at it; delete it and run kitbag trust again";
  return new KitbagError("config-invalid", { path, reason: `${reason}; ${cure}` }, { cause });
}

/**
 * Changes what is trusted, in one step that others see whole or not at all. Several programs may do so at once.
 *
 * @throws {KitbagError} `config-invalid` if the file is wrong (see {@link loadTrust}) or cannot be written; `home-unusable`.
 */
export async function updateTrust(home: string, change: (trusted: TrustList) => void): Promise<void> {
  const path = trustPath(home);
  try {
    makeHomeFolder(home);
    await withFileLock(`${path}.lock`, () => {
      const trusted = loadTrust(home);
      change(trusted);
      writeFileAtomically(path, renderTrust(trusted));
    });
  } catch (cause) {
    if (cause instanceof KitbagError) throw cause;
    throw new KitbagError("config-invalid", { path, reason: describeFileError(cause) }, { cause });
  }
}
