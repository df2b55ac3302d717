import type { Store } from "../../core/store.ts";

/** A key and a stream that nothing writes. */
const probe = "kitbag-ready";

/**
 * Reads a little from every part of a store that a call needs.
 *
 * @throws {KitbagError} why the store cannot be used now.
 */
export async function reachStore({ kv, counters, log }: Pick<Store, "kv" | "counters" | "log">): Promise<void> {
  await Promise.all([kv.get(probe), counters?.get(probe), log.position(probe)]);
}
