import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { isRecord } from "../../core/json.ts";
import { makeHomeFolder, resolveKitbagHome } from "../../platform/home.ts";
import { writeFileAtomically } from "../../platform/files.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import { toStoreId } from "../../store/store-id.ts";
import { toHeadFolder } from "./audit-files.ts";
import { ownFolder } from "./find-project.ts";
import { toRealPath } from "../../platform/paths.ts";
import type { CliContext } from "../cli-command.ts";
import { findStoreFile } from "./choose-store.ts";

/** Where a store was found last. */
export interface KnownStore {
  readonly file: string;
  /** The inode of the file: a rename keeps it, a copy has another. */
  readonly inode?: string;
  /** When it was first seen that the file is gone, in milliseconds since 1970. */
  readonly goneSince?: number;
}

/** The stores that a home knows, by the id that each keeps in itself. */
export type KnownStores = Map<string, KnownStore>;

/** A project can be renamed, or on a disk that is not mounted: its store is forgotten only after so long. */
const forgottenAfterMs = 30 * 24 * 60 * 60 * 1000;

/** Where this is written down for a person. */
export function knownStoresPath(home: string): string {
  return join(toHeadFolder(home), "stores.json");
}

/**
 * Reads where the stores of a person are.
 *
 * @throws {KitbagError} `config-invalid` if the list is not as Kitbag writes it; what the system says if it may not be read.
 */
export function loadKnownStores(home: string): KnownStores {
  const path = knownStoresPath(home);
  if (!existsSync(path)) return new Map();
  const text = readFileSync(path, "utf8");
  try {
    return parse(text);
  } catch (cause) {
    const reason = "it is not a list of stores; delete it: it is made anew, and all stores and audits stay";
    throw new KitbagError("config-invalid", { path, reason }, { cause });
  }
}

function parse(text: string): KnownStores {
  const document: unknown = JSON.parse(text);
  const stores = isRecord(document) && document["version"] === 1 ? document["stores"] : undefined;
  if (!isRecord(stores)) throw new Error("it has no stores");
  return new Map(
    Object.entries(stores).map(([id, value]) => {
      if (toStoreId(id) === undefined) throw new Error("it has an invalid id");
      return [id, parseStore(typeof value === "string" ? { file: value } : value)];
    }),
  );
}

function parseStore(value: unknown): KnownStore {
  const { file, inode, goneSince } = isRecord(value) ? value : {};
  if (typeof file !== "string" || !isAbsolute(file)) throw new Error("it has a store without a file");
  return {
    file,
    ...(typeof inode === "string" && { inode }),
    ...(typeof goneSince === "number" && { goneSince }),
  };
}

/**
 * Changes the list in one step that others see whole or not at all. Stores whose files are gone for a month leave it.
 *
 * @throws {KitbagError} `config-invalid`
 */
export async function updateKnownStores(home: string, change: (stores: KnownStores) => void): Promise<void> {
  const path = knownStoresPath(home);
  makeHomeFolder(dirname(path), home);
  await withFileLock(`${path}.lock`, () => {
    const stores = loadKnownStores(home);
    change(stores);
    forgetGone(stores, Date.now());
    writeFileAtomically(path, `${JSON.stringify({ version: 1, stores: Object.fromEntries(stores) }, null, 2)}\n`);
  });
}

function forgetGone(stores: KnownStores, now: number): void {
  for (const [id, { goneSince = now, ...store }] of [...stores]) {
    if (existsSync(store.file)) stores.set(id, store);
    else if (now - goneSince > forgottenAfterMs && existsSync(toPlace(store.file))) stores.delete(id);
    else stores.set(id, { ...store, goneSince });
  }
}

/** The folder that is still there when a project, or a file that was named, was deleted. */
function toPlace(file: string): string {
  return dirname(toProject(file) ?? file);
}

/** The project whose store a file is. */
export function toProject(file: string): string | undefined {
  return basename(dirname(file)) === ownFolder ? dirname(dirname(file)) : undefined;
}

/**
 * Notices that the project of the working directory was moved here, by the store in it, before anything asks what is trusted in it. A
 * copy of a project is not followed.
 *
 * @throws {KitbagError} `store-unaccepted` if the store cannot prove that it is the moved one; `config-invalid` if the list of stores,
 * or of trusted folders, cannot be used.
 */
export async function followMove({ cwd, env }: Pick<CliContext, "cwd" | "env">): Promise<void> {
  const home = resolveKitbagHome(env);
  const place = findStoreFile(cwd, home);
  if (place.folder === undefined || !existsSync(place.file)) return;
  const known = new Set([...loadKnownStores(home).values()].map(({ file }) => file));
  if (known.size === 0 || known.has(toRealPath(place.file))) return;
  const { identifyStore, noteStore, toUnaccepted } = await import("./identify-store.ts");
  const choice = { kind: "sqlite", ...place } as const;
  const found = await identifyStore(choice, home);
  if (found.status === "unproven") throw await toUnaccepted(choice, { home, env }, found);
  if (found.status === "known" && found.movedFrom !== undefined) {
    await noteStore(choice, home, found.id, found.movedFrom);
  }
}
