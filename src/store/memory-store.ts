import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { Store } from "../core/store.ts";
import { memoryBlobs } from "./memory-blobs.ts";
import { memoryKv } from "./memory-kv.ts";
import { createStoreLife } from "./store-life.ts";
import { memoryLog } from "./memory-log.ts";
import { memoryQueues } from "./memory-queue.ts";

/** What {@link memoryStore} takes. */
export interface MemoryStoreOptions {
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/**
 * Makes a store that lives as long as the process. It keeps everything until it is deleted, collected or expires, and drops
 * nothing to save memory.
 *
 * @throws {KitbagError} `option-invalid` if `now` is not a function.
 *
 * @example
 * ```ts
 * import { memoryStore } from "kitbag";
 *
 * const store = memoryStore();
 * await store.kv.set("visits", 41);
 * console.assert((await store.kv.increment("visits")) === 42);
 * await store.close();
 * ```
 */
export function memoryStore({ now = Date.now }: MemoryStoreOptions = {}): Store {
  if (typeof now !== "function") {
    throw new KitbagError("option-invalid", { option: "now", found: showValue(now), expected: "a function" });
  }
  const life = createStoreLife(now);
  return {
    kv: memoryKv(life),
    log: memoryLog(life),
    blobs: memoryBlobs(life),
    queue: memoryQueues(life),
    async close() {
      life.close();
    },
  };
}
