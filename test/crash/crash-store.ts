import type { Store } from "../../src/core/store.ts";
import { combineStores } from "../../src/store/combine-stores.ts";
import { memoryStore } from "../../src/store/memory-store.ts";
import { postgresStore } from "../../src/store/postgres/postgres-store.ts";
import { redisStore } from "../../src/store/redis/redis-store.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

/** A store that several processes open. */
export type CrashStore =
  | { readonly file: string }
  | { readonly url: string; readonly schema: string }
  /** Only limits are shared. */
  | { readonly redis: string };

/** Opens it. */
export async function openCrashStore(store: CrashStore): Promise<Store> {
  if ("redis" in store) return combineStores(memoryStore(), await redisStore({ url: store.redis }));
  return "file" in store ? sqliteStore(store) : postgresStore(store);
}
