import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { toRealPath } from "../../platform/paths.ts";
import { moveTrust } from "../../skills/trust/move-trust.ts";
import { auditStream } from "../../records/audit/audit-entry.ts";
import type { PeekedStore } from "../../store/sqlite/peek-sqlite.ts";
import { makeStoreId, keepStoreId } from "../../store/store-id.ts";
import { toAuditFiles, toHeadFolder, toPlaceId, type AuditFiles } from "./audit-files.ts";
import { showAccept, type SqliteChoice, type KeptChoice } from "./choose-store.ts";
import { hideSqliteWarning, openStore, toCopyNotes } from "./open-store.ts";
import { loadKnownStores, toProject, updateKnownStores, type KnownStore, type KnownStores } from "./known-stores.ts";
import type { Store } from "../../core/store.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import { makeHomeFolder } from "../../platform/home.ts";
import type { Audit } from "../../records/audit/open-audit.ts";
import { removeLeftCopies } from "../../store/sqlite/left-copies.ts";

/**
 * Which store a file holds, as far as this home knows. `new`: there is no file yet. `known`: it was made or accepted with this home;
 * `movedFrom` is where it was. `copy`: it is a copy of a store that is still where it was. `unproven`: it has the id of a store that
 * was elsewhere, and that is all. `unknown`: this home has never used it.
 */
export type StoreIdentity =
  | { readonly status: "new"; readonly id: string }
  | { readonly status: "known"; readonly id: string; readonly hasId: boolean; readonly movedFrom?: string }
  | { readonly status: "copy" | "unproven"; readonly reason: string; readonly last?: JsonValue }
  | { readonly status: "unknown"; readonly id: string; readonly last?: JsonValue };

/**
 * Identifies the store in a file by the id in it; the path is only where it is found. Nothing is changed.
 *
 * @throws {KitbagError} `store-unavailable` if the file cannot be read; `config-invalid` if the list of stores cannot.
 */
export async function identifyStore(choice: SqliteChoice, home: string): Promise<StoreIdentity> {
  const file = toRealPath(choice.file);
  const known = loadKnownStores(home);
  const hasHead = (id: string): boolean => existsSync(toAuditFiles(home, id).anchorFile);
  /** A process ended while it made the store: it has no head yet. */
  const begun = idsAt(known, file).find((id) => !hasHead(id));
  if (!existsSync(file)) return { status: "new", id: begun ?? makeStoreId() };
  const { id, last } = await peek(file);
  const seen = last === undefined ? {} : { last };
  if (id === undefined) {
    const placeId = toPlaceId(choice);
    const isOld = hasHead(placeId) && !known.has(placeId);
    const kept = isOld ? placeId : begun;
    return kept === undefined
      ? { status: "unknown", id: makeStoreId(), ...seen }
      : { status: "known", id: kept, hasId: false };
  }
  if (!hasHead(id) && id !== begun) return { status: "unknown", id, ...seen };
  return { ...(await comparePlaces(file, { id, home, place: known.get(id) })), ...seen };
}

interface Claim {
  readonly id: string;
  readonly home: string;
  /** Where the store with this id was last. */
  readonly place: KnownStore | undefined;
}

/** Tells whether a file that has the id of a store of this home is that store. */
async function comparePlaces(file: string, { id, home, place }: Claim): Promise<StoreIdentity> {
  const known = { status: "known", id, hasId: true } as const;
  if (place !== undefined) {
    if (place.file === file || isSameFile(place.file, file)) return known;
    if (await holds(place.file, id)) {
      return { status: "copy", reason: `it is a copy of ${place.file}, which is still there` };
    }
  }
  const doubt = await findDoubt(file, toAuditFiles(home, id), place);
  if (doubt === undefined) return { ...known, ...(place !== undefined && { movedFrom: place.file }) };
  const claim = place === undefined ? "it has the id of a store of this home" : `it has the id of ${place.file}`;
  return { status: "unproven", reason: `${claim}, but ${doubt}` };
}

/** Says why a file may be another than the store whose id it has: a program that has read a store can write its id into another file. */
async function findDoubt(file: string, files: AuditFiles, known: KnownStore | undefined): Promise<string | undefined> {
  const { inode } = known ?? {};
  if (inode !== undefined && inode !== inodeOf(file)) return "it is another file";
  const [{ loadAuditKeys }, { readAnchor }, { readLine }] = await Promise.all([
    import("../../records/audit/audit-keys.ts"),
    import("../../records/audit/anchor-file.ts"),
    import("../../records/audit/audit-entry.ts"),
  ]);
  const keys = await loadAuditKeys(files, false);
  const head = readAnchor(files.anchorFile, keys);
  if (head === undefined || head === "foreign") return "the head of its audit was not made with the key of this home";
  if (head.count === 0) return inode === undefined ? "its audit has no entry that proves it" : undefined;
  const { at, last } = await peek(file, head.count);
  if (readLine(keys, at)?.hash === head.hash && readLine(keys, last) !== undefined) return undefined;
  return `its audit does not have entry ${head.count} as this home knows it`;
}

async function peek(file: string, position?: number): Promise<PeekedStore> {
  hideSqliteWarning();
  const { peekSqlite } = await import("../../store/sqlite/peek-sqlite.ts");
  return peekSqlite(file, auditStream, position);
}

function inodeOf(file: string): string | undefined {
  return statSync(file, { throwIfNoEntry: false, bigint: true })?.ino.toString();
}

/** One folder can be mounted at two places. */
function isSameFile(left: string, right: string): boolean {
  const [one, other] = [left, right].map((path) => statSync(path, { throwIfNoEntry: false }));
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

/** Tells whether the store with this id is in `file`. If that cannot be found out, it may be. */
async function holds(file: string, id: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  try {
    return (await peek(file)).id === id;
  } catch {
    return true;
  }
}

function idsAt(known: KnownStores, file: string): readonly string[] {
  return [...known].flatMap(([id, place]) => (place.file === file ? [id] : []));
}

/** Writes down where a store is. What a person trusted in its project follows it. */
export async function noteStore(choice: SqliteChoice, home: string, id: string, movedFrom?: string): Promise<void> {
  const file = toRealPath(choice.file);
  const inode = inodeOf(file);
  const known = loadKnownStores(home).get(id);
  if (known?.file !== file || known.inode !== inode) {
    await updateKnownStores(home, (stores) => stores.set(id, { file, ...(inode !== undefined && { inode }) }));
  }
  const [from, to] = [movedFrom, file].map((path) => path && toProject(path));
  if (from !== undefined && to !== undefined) await moveTrust(home, from, to);
}

/** The refusal of a store that a person must agree to, with the command that agrees. */
export async function toUnaccepted(
  choice: SqliteChoice,
  { home, env }: { readonly home: string; readonly env: Readonly<Record<string, string | undefined>> },
  { reason, last }: { readonly reason: string; readonly last?: JsonValue },
): Promise<KitbagError> {
  const { keyFile } = toAuditFiles(home, "");
  const words = (await isOfKey(keyFile, last)) ? "store accept" : "store accept --new-audit";
  return new KitbagError("store-unaccepted", { store: choice.file, reason, accept: showAccept(words, choice, env) });
}

/** Tells whether the audit ends with an entry that was made with the person's own key, or has none. */
async function isOfKey(keyFile: string, last: JsonValue | undefined): Promise<boolean> {
  if (last === undefined) return true;
  if (!existsSync(keyFile)) return false;
  const { loadAuditKeys } = await import("../../records/audit/audit-keys.ts");
  const { readLine } = await import("../../records/audit/audit-entry.ts");
  return readLine(await loadAuditKeys({ keyFile }, false), last) !== undefined;
}

/** The heads of audits that were kept in this file before, and whose stores are gone. */
export function findLostHeads(choice: SqliteChoice, home: string, current: string): readonly string[] {
  const file = toRealPath(choice.file);
  const placeId = toPlaceId(choice);
  const known = loadKnownStores(home);
  const ids = [...idsAt(known, file), ...(known.has(placeId) ? [] : [placeId])].filter((id) => id !== current);
  const heads = ids.map((id) => toAuditFiles(home, id).anchorFile).filter((path) => existsSync(path));
  return [...heads, ...findSetAside(home, placeId)];
}

/** Before stores had ids, the head of one that was deleted got another name. */
function findSetAside(home: string, placeId: string): readonly string[] {
  const folder = toHeadFolder(home);
  const start = `${basename(toAuditFiles(home, placeId).anchorFile)}.lost-`;
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => name.startsWith(start)).map((name) => join(folder, name));
}

/** A store that is open for records, and the audit in it. */
interface AuditedStore {
  readonly store: Store;
  readonly audit: Audit;
}

/** Whose a store is. */
interface StoreOwner {
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
