import type { Store } from "../core/store.ts";
import type { ConformanceCheck } from "./conformance.ts";
import { blobChecks } from "./store/blob-checks.ts";
import { kvChecks, kvListChecks } from "./store/kv-checks.ts";
import { kvVersionChecks } from "./store/kv-version-checks.ts";
import { logChecks } from "./store/log-checks.ts";
import { digestsChecks, streamsChecks } from "./store/names-checks.ts";
import { queueChecks } from "./store/queue-checks.ts";
import { within, type StoreChecks, type Wait } from "./store/store-check.ts";
import { tailChecks } from "./store/tail-checks.ts";

/** One of the primitives of a store. */
export type StorePart = "kv" | "log" | "blobs" | "queue";

/** What {@link storeConformance} takes beside the store. */
export interface StoreConformanceOptions<Part extends StorePart = StorePart> {
  /** The parts that the store has. @default all */
  readonly parts?: readonly Part[];
  /** Lets time pass, for a store that goes by a clock of its own. @default really waits */
  readonly wait?: (ms: number) => Promise<void> | void;
}

/** A store that may lack the other parts. */
type StoreWith<Part extends StorePart> = Pick<Store, Part | "close">;

const checksOf: Readonly<Record<StorePart, readonly StoreChecks[]>> = {
  kv: [kvChecks, kvVersionChecks, kvListChecks],
  log: [logChecks, streamsChecks, tailChecks],
  blobs: [blobChecks, digestsChecks],
  queue: [queueChecks],
};

/**
 * The checks that every {@link Store} must pass. `create` is called once for each check and must make an empty store; the check
 * closes it.
 *
 * @example
 * ```ts
 * import { memoryStore } from "kitbag";
 * import { storeConformance } from "kitbag/testing";
 *
 * for (const check of storeConformance(memoryStore, { parts: ["log"] })) await check.run();
 * ```
 */
export function storeConformance<Part extends StorePart = StorePart>(
  create: () => StoreWith<NoInfer<Part>> | Promise<StoreWith<NoInfer<Part>>>,
  options: StoreConformanceOptions<Part> = {},
): readonly ConformanceCheck[] {
  const parts: readonly StorePart[] = options.parts ?? ["kv", "log", "blobs", "queue"];
  const wait = options.wait ?? sleep;
  return parts.flatMap((part) => checksOf[part]).flatMap((checks) => toChecks(checks, create, wait));
}

function toChecks(
  checks: StoreChecks,
  create: () => StoreWith<never> | Promise<StoreWith<never>>,
  wait: Wait,
): ConformanceCheck[] {
  return Object.entries(checks).map(([name, check]) => ({
    name,
    async run() {
      const store = await create();
      // A check uses only the part it belongs to, and that the caller said is there.
      const [result] = await Promise.allSettled([check(store as Store, wait)]);
      const closed = within(store.close(), "close()");
      if (result.status === "fulfilled") return closed;
      await closed.catch(() => undefined);
      throw result.reason;
    },
  }));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
