import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { toRealPath } from "../../platform/paths.ts";
import type { KeptChoice } from "./choose-store.ts";

/** The files of an audit that are not in its store. */
export interface AuditFiles {
  readonly keyFile: string;
  readonly anchorFile: string;
}

/** Where the key and the head of the audit of the store with this id are: in the person's own folder, which no tool sees. */
export function toAuditFiles(home: string, id: string): AuditFiles {
  return { keyFile: toKeyFile(home), anchorFile: join(toHeadFolder(home), `${id}${headEnd}`) };
}

/**
 * An id of the place of a store. Stores in Postgres are known by their address; so were files before they had an id in themselves, and
 * those keep it.
 */
export function toPlaceId(choice: KeptChoice): string {
  const place =
    choice.kind === "postgres"
      ? choice.shown.replace(/^postgresql:/u, "postgres:")
      : `sqlite:${toRealPath(choice.file)}`;
  return createHash("sha256").update(place).digest("hex").slice(0, 32);
}

const headEnd = ".head";

/** The folder of the heads of all audits of a person. */
export function toHeadFolder(home: string): string {
  return join(home, "audit");
}

/** The key of all audits of a person. */
export function toKeyFile(home: string): string {
  return join(home, "audit.key");
}

/**
 * Checks that the key is there if an audit was begun with it. One that was deleted is not made anew without a word: no audit that was
 * written with it could be verified.
 *
 * @throws {KitbagError} `audit-key-invalid`
 */
export function checkKeyKept(home: string): void {
  const key = toKeyFile(home);
  const folder = toHeadFolder(home);
  const hasHeads = existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(headEnd));
  if (!hasHeads || existsSync(key)) return;
  const cure = `put it back; if it is lost, delete ${folder} and accept each store again: kitbag store accept --new-audit`;
  throw new KitbagError("audit-key-invalid", { key, reason: `it is gone, and audits were written with it; ${cure}` });
}
