import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { JsonValue } from "../../core/json.ts";
import { toRealPath } from "../../skills/folder/to-real-path.ts";
import { moveTrust } from "../../skills/trust/move-trust.ts";
import { auditStream } from "../../store/audit/audit-entry.ts";
import { makeStoreId } from "../../store/store-id.ts";
import { toAuditFiles, toHeadFolder, toPlaceId } from "./audit-files.ts";
import type { SqliteChoice } from "./choose-store.ts";
import { ownFolder } from "./find-project.ts";
import { hideSqliteWarning } from "./hide-sqlite-warning.ts";
import { loadKnownStores, updateKnownStores, type KnownStores } from "./known-stores.ts";

/**
 * Which store a file holds, as far as this home knows. `new`: there is no file yet. `known`: it was made or accepted with this home;
 * `movedFrom` is where it was. `copy`: it is a copy of a store that is still where it was. `unknown`: this home has never used it.
 */
export type StoreIdentity =
  | { readonly status: "new"; readonly id: string }
  | { readonly status: "known"; readonly id: string; readonly hasId: boolean; readonly movedFrom?: string }
  | { readonly status: "copy"; readonly of: string; readonly last?: JsonValue }
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
  const place = known.get(id);
  if (place === undefined || place === file || isSameFile(place, file)) return { status: "known", id, hasId: true };
  if (await holds(place, id)) return { status: "copy", of: place, ...seen };
  return { status: "known", id, hasId: true, movedFrom: place };
}

async function peek(file: string): Promise<{ readonly id?: string; readonly last?: JsonValue }> {
  hideSqliteWarning();
  const { peekSqlite } = await import("../../store/sqlite/peek-sqlite.ts");
  return peekSqlite(file, auditStream);
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
  return [...known].flatMap(([id, place]) => (place === file ? [id] : []));
}

/** Writes down where a store is. What a person trusted in its project follows it. */
export async function noteStore(choice: SqliteChoice, home: string, id: string, movedFrom?: string): Promise<void> {
  const file = toRealPath(choice.file);
  if (loadKnownStores(home).get(id) !== file) await updateKnownStores(home, (stores) => stores.set(id, file));
  const [from, to] = [movedFrom, file].map(toProject);
  if (from !== undefined && to !== undefined) await moveTrust(home, from, to);
}

/** The project whose store a file is. */
function toProject(file: string | undefined): string | undefined {
  if (file === undefined || basename(dirname(file)) !== ownFolder) return undefined;
  return dirname(dirname(file));
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
