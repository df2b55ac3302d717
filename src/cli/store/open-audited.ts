import { join } from "node:path";

import type { Store } from "../../core/store.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import { makeHomeFolder } from "../../platform/home.ts";
import type { Audit } from "../../records/audit/open-audit.ts";
import { removeLeftCopies } from "../../store/sqlite/left-copies.ts";
import { keepStoreId } from "../../store/store-id.ts";
import { toAuditFiles, toHeadFolder, toPlaceId, type AuditFiles } from "./audit-files.ts";
import type { KeptChoice, SqliteChoice } from "./choose-store.ts";
import { findLostHeads, identifyStore, noteStore, toUnaccepted, type StoreIdentity } from "./identify-store.ts";
import { openStore, toCopyNotes } from "./open-store.ts";

/** A store that is open for records, and the audit in it. */
export interface AuditedStore {
  readonly store: Store;
  readonly audit: Audit;
}

/** Whose a store is. */
export interface StoreOwner {
  /** The folder of the person's own files. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told that the store which was kept here is gone. */
  onDeleted(): void;
}

/**
 * Opens a store and its audit. A file is known by the id in it, so a project may be moved. A store that was deleted begins anew, and
 * the head of its audit is kept, so that it is seen; one of a project that this home has never used is refused, since its maker
 * could have put anything into it, and so is a copy, and a file that has the id of a store and does not prove that it is the one.
 *
 * @throws {KitbagError} `store-unaccepted`, `audit-broken`, `audit-key-invalid`, `store-…`
 */
export async function openAudited(choice: KeptChoice, owner: StoreOwner): Promise<AuditedStore> {
  const { home } = owner;
  if (choice.kind === "postgres") return open(choice, toAuditFiles(home, toPlaceId(choice)));
  // An unfinished backup that cannot be deleted takes only space.
  await removeLeftCopies(toCopyNotes(home)).catch(() => undefined);
  const found = await identifyStore(choice, home);
  if (found.status === "known" && found.hasId && found.movedFrom === undefined) {
    const opened = await open(choice, toAuditFiles(home, found.id));
    await noteStore(choice, home, found.id);
    return opened;
  }
  // The first time there may be several at once: one makes it, the others find it.
  const folder = toHeadFolder(home);
  makeHomeFolder(folder, home);
  return withFileLock(join(folder, "begin.lock"), async () =>
    openFirst(choice, owner, await identifyStore(choice, home)),
  );
}

async function openFirst(choice: SqliteChoice, owner: StoreOwner, found: StoreIdentity): Promise<AuditedStore> {
  const { home } = owner;
  if ("reason" in found) throw await toUnaccepted(choice, owner, found);
  // Without a head in the person's own folder nothing says who made the file: also an empty one can hold what runs later.
  if (found.status === "unknown" && !choice.isNamed) {
    const reason = `the home ${home} has never used it: it came with the project, or was made with another HOME or KITBAG_HOME`;
    throw await toUnaccepted(choice, owner, { ...found, reason });
  }
  if (found.status === "new") {
    if (findLostHeads(choice, home, found.id).length > 0) owner.onDeleted();
    // Before there is a file: one that a process left half made is known by it.
    await noteStore(choice, home, found.id);
  }
  const opened = await open(choice, toAuditFiles(home, found.id), found.id);
  await noteStore(choice, home, found.id, found.status === "known" ? found.movedFrom : undefined);
  return opened;
}

async function open(choice: KeptChoice, files: AuditFiles, id?: string): Promise<AuditedStore> {
  const store = await openStore(choice);
  try {
    if (id !== undefined) await keepStoreId(store, id);
    const { openAudit } = await import("../../records/audit/open-audit.ts");
    return { store, audit: await openAudit({ store, ...files }) };
  } catch (cause) {
    await store.close();
    throw cause;
  }
}
