import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { withFileLock } from "../../skills/trust/with-file-lock.ts";
import type { Audit } from "../../store/audit/open-audit.ts";
import type { AuditFiles } from "./audit-files.ts";
import type { StoreChoice } from "./choose-store.ts";
import { openStore, type OpenableChoice } from "./open-store.ts";

/** A store that is open for records, and the audit in it. */
export interface AuditedStore {
  readonly store: Store;
  readonly audit: Audit;
}

/**
 * Opens a store and its audit. A store that was deleted begins anew, and the head of its audit is kept, so that it is seen; one in
 * a project that this person has not made is refused, since whoever made it could have put anything into it.
 *
 * @throws {KitbagError} `audit-broken`, `audit-key-invalid`, `store-…`
 */
export async function openAudited(
  choice: OpenableChoice,
  files: AuditFiles,
  onDeleted: () => void,
): Promise<AuditedStore> {
  const isThere = (): boolean => choice.kind !== "sqlite" || existsSync(choice.file);
  async function open(): Promise<AuditedStore> {
    if (!isThere() && existsSync(files.anchorFile)) {
      setAside(files.anchorFile);
      onDeleted();
    }
    if (isThere() && !existsSync(files.anchorFile)) checkNotForeign(choice);
    const store = await openStore(choice);
    try {
      const { openAudit } = await import("../../store/audit/open-audit.ts");
      return { store, audit: await openAudit({ store, ...files }) };
    } catch (cause) {
      await store.close();
      throw cause;
    }
  }
  if (isThere() && existsSync(files.anchorFile)) return open();
  // The first time there may be several at once: one makes it, the others find it.
  mkdirSync(dirname(files.anchorFile), { recursive: true, mode: 0o700 });
  return withFileLock(`${files.anchorFile}.lock`, open);
}

/** Without a head in the person's own folder nothing says who made the file: also an empty one can hold what runs later. */
function checkNotForeign(choice: StoreChoice): void {
  if (choice.kind !== "sqlite" || choice.isNamed) return;
  throw new KitbagError("store-unavailable", {
    store: choice.file,
    reason: "it was not made here: it was moved, or came with the project",
    cure: "delete it, or if you know it take it as it is: kitbag store accept",
    mayBeWritten: false,
  });
}

const lostMark = ".lost-";

/** What is left of an audit whose store is gone. */
function setAside(anchorFile: string): void {
  renameSync(anchorFile, `${anchorFile}${lostMark}${Date.now()}`);
}

/** The heads of audits that were kept at this place, and whose store is gone. */
export function findLostHeads(anchorFile: string): readonly string[] {
  const folder = dirname(anchorFile);
  if (!existsSync(folder)) return [];
  const start = basename(anchorFile) + lostMark;
  return readdirSync(folder)
    .filter((name) => name.startsWith(start))
    .map((name) => join(folder, name));
}
