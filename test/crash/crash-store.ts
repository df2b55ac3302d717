import type { Store } from "../../src/core/store.ts";
import { postgresStore } from "../../src/store/postgres/postgres-store.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

/** A store that several processes open. */
export type CrashStore = { readonly file: string } | { readonly url: string; readonly schema: string };

/** Opens it. */
export function openCrashStore(store: CrashStore): Promise<Store> {
  return "file" in store ? sqliteStore(store) : postgresStore(store);
}
