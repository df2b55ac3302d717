import { isKitbagError } from "../core/errors.ts";
import type { KeyValueStore } from "../core/store.ts";

/** For so long nobody else gets what a process had that has vanished, by the store's clock. */
export const leaseMs = 15_000;

/** A key of a store that this process has, and nobody else, as long as it lives. */
export interface Lease {
  /** Gives it back. Never rejects: what cannot be given back ends by itself. */
  end(): Promise<void>;
}

/** Takes a key, unless somebody has it, here or in another process. */
export async function takeLease(kv: KeyValueStore, key: string): Promise<Lease | undefined> {
  // It need not survive a loss of power: neither do those who have it.
  const about = { expiresInMs: leaseMs, durable: false };
  const claim = (ifVersion: number): Promise<number> => kv.set(key, true, { ifVersion, ...about });
  let version: number;
  try {
    version = await claim(0);
  } catch (cause) {
    if (isKitbagError(cause, "store-conflict")) return undefined;
    throw cause;
  }

  async function renew(): Promise<void> {
    try {
      version = await claim(version);
    } catch (cause) {
      // A store that is away may come back in time.
      if (version === 0 || !isKitbagError(cause, "store-conflict")) return;
      // This process stood still for too long, and somebody else may have it now; if not, it is taken again.
      version = 0;
      await renew();
    }
  }

  let renewing = Promise.resolve();
  const timer = setInterval(() => {
    renewing = renewing.then(renew);
  }, leaseMs / 3);
  timer.unref();
  return {
    async end() {
      clearInterval(timer);
      await renewing;
      if (version > 0) await kv.delete(key, { ifVersion: version, durable: false }).catch(ignore);
    },
  };
}

function ignore(): void {}
