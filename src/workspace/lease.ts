import { isKitbagError } from "../core/errors.ts";
import type { KeyValueStore } from "../core/store.ts";

/** For so long nobody else gets what a process had that has vanished. */
export const leaseMs = 15_000;

/** How often it is tried to give back what could not be given back, and how often in all. */
const againMs = 1000;
const mostTries = leaseMs / againMs;

/** A key of a store that this process has, and nobody else, as long as it lives. */
export interface Lease {
  /** Whether it was renewed in time. If not, somebody else may have the key. */
  isHeld(): boolean;
  /** Gives it back. Never rejects: what cannot be given back now is given back when the store is there again, or ends by itself. */
  end(): Promise<void>;
}

/** Takes a key, unless somebody has it, here or in another process. `over` is the version of one whose process is dead. */
export async function takeLease(kv: KeyValueStore, key: string, over = 0): Promise<Lease | undefined> {
  const lease = new KeptLease(kv, key);
  return (await lease.take(over)) ? lease : undefined;
}

class KeptLease implements Lease {
  readonly #kv: KeyValueStore;
  readonly #key: string;
  /** What is in the key while it is this one's. */
  readonly #token = crypto.randomUUID();
  #version = 0;
  #heldUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #renewing = Promise.resolve();

  constructor(kv: KeyValueStore, key: string) {
    this.#kv = kv;
    this.#key = key;
  }

  async take(over: number): Promise<boolean> {
    try {
      await this.#claim(over);
    } catch (cause) {
      if (isKitbagError(cause, "store-conflict")) return false;
      // It may be written all the same.
      void this.#giveBack();
      throw cause;
    }
    this.#timer = setInterval(() => {
      this.#renewing = this.#renewing.then(() => this.#renew()).catch(ignore);
    }, leaseMs / 3).unref();
    return true;
  }

  isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#heldUntil = 0;
    await this.#renewing;
    try {
      await this.#kv.delete(this.#key, { ifVersion: this.#version, durable: false });
    } catch {
      void this.#giveBack();
    }
  }

  async #claim(ifVersion: number): Promise<void> {
    const askedAt = performance.now();
    // It need not survive a loss of power: neither do those who have it.
    const options = { ifVersion, expiresInMs: leaseMs, durable: false };
    this.#version = await this.#kv.set(this.#key, this.#token, options);
    this.#heldUntil = askedAt + leaseMs;
  }

  /** Also takes it again, if this process stood still for too long and nobody else has taken it since. */
  async #renew(): Promise<void> {
    const found = await this.#kv.get(this.#key);
    if (found === undefined || found.value === this.#token) await this.#claim(found?.version ?? 0);
  }

  async #giveBack(): Promise<void> {
    for (let tries = 0; tries < mostTries; tries++) {
      try {
        const found = await this.#kv.get(this.#key);
        if (found?.value === this.#token) {
          await this.#kv.delete(this.#key, { ifVersion: found.version, durable: false });
        }
        return;
      } catch (cause) {
        if (isKitbagError(cause, "store-closed")) return;
        await new Promise((resolve) => setTimeout(resolve, againMs).unref());
      }
    }
  }
}

/** Sees by the clock of this process, which never goes back, whether somebody still renews a lease. */
export interface LeaseWatch {
  /** Whether the lease of `key` has had this version for so long that its process must be dead. */
  isDead(key: string, version: number): boolean;
}

/** Makes a watch, which knows nothing yet. */
export function createLeaseWatch(): LeaseWatch {
  const seen = new Map<string, { readonly version: number; readonly since: number }>();
  return {
    isDead(key, version) {
      const known = seen.get(key);
      if (known?.version === version) return performance.now() - known.since > leaseMs;
      seen.set(key, { version, since: performance.now() });
      return false;
    },
  };
}

function ignore(): void {}
