import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { toRealPath } from "../../skills/folder/to-real-path.ts";
import type { StoreChoice } from "./choose-store.ts";

/** The files of an audit that are not in its store. */
export interface AuditFiles {
  readonly keyFile: string;
  readonly anchorFile: string;
}

/** Where the key and the head of a store's audit are: in the person's own folder, which no tool sees. */
export function toAuditFiles(choice: StoreChoice, home: string): AuditFiles | undefined {
  const identity = toIdentity(choice);
  if (identity === undefined) return undefined;
  const name = createHash("sha256").update(identity).digest("hex").slice(0, 32);
  return { keyFile: toKeyFile(home), anchorFile: join(toHeadFolder(home), `${name}${headEnd}`) };
}

const headEnd = ".head";

function toHeadFolder(home: string): string {
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

/** The same store has the same name, whatever way leads to it. What is only in memory needs no audit. */
function toIdentity(choice: StoreChoice): string | undefined {
  if (choice.kind === "postgres") return choice.shown.replace(/^postgresql:/u, "postgres:");
  return choice.kind === "sqlite" ? `sqlite:${toRealPath(choice.file)}` : undefined;
}
