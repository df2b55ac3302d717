import { randomBytes } from "node:crypto";

import type { Store } from "../core/store.ts";

/**
 * The key under which a store keeps its id: by it the store is known again, wherever its file is moved. An export leaves it out, so that
 * two stores never share one.
 */
export const storeIdKey = "store:id";

/** A new id: 128 random bits. */
export function makeStoreId(): string {
  return randomBytes(16).toString("hex");
}

/** Reads a store id; `undefined` if the value is malformed, because a file from another machine can hold any value. */
export function toStoreId(value: unknown): string | undefined {
  return typeof value === "string" && /^[\da-f]{32}$/u.test(value) ? value : undefined;
}

/** Gives a store an id, in place of the one that it had. */
export async function keepStoreId({ kv }: Pick<Store, "kv">, id: string): Promise<void> {
  if (toStoreId((await kv.get(storeIdKey))?.value) !== id) await kv.set(storeIdKey, id);
}
