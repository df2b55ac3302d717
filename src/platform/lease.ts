import { isKitbagError } from "../core/errors.ts";
import type { JsonValue } from "../core/json.ts";
import type { KeyValueStore, VersionedValue } from "../core/store.ts";
import { machineClock, type Clock } from "./clock.ts";

/** What a {@link KeyLease} is made of. */
export interface LeaseTerms {
  readonly kv: KeyValueStore;
  readonly key: string;
  /** How long the key is held after each renewal. */
  readonly leaseMs: number;
  /** What is in the key meanwhile. */
  value(): JsonValue;
  /** Tells whether a value in the key was written by this lease. */
  isOwn(value: JsonValue): boolean;
}

/** How a renewal ended. `doubtful`: the lease had expired, and another process may have had it since. `lost`: another process has it. */
export type Renewal =
  | { readonly status: "kept" | "doubtful" }
  | { readonly status: "lost"; readonly found: VersionedValue };

/**
 * A key of a store that one process holds until it expires. It is renewed and released by its owner. It need not survive a loss of
 * power: neither do the processes that hold it.
 */
export class KeyLease {
  readonly #terms: LeaseTerms;
  #version = 0;
  #isReleased = false;
  #renewing: Promise<unknown> = Promise.resolve();

  constructor(terms: LeaseTerms) {
    this.#terms = terms;
  }

  /**
   * Writes the key, if it has this version; 0 if it must not exist.
   *
   * @throws {KitbagError} `store-conflict` if it has another version.
   */
  async claim(ifVersion: number): Promise<void> {
    // A lease that is released while it is renewed must not be written afterwards.
    if (this.#isReleased) return;
    const { kv, key, leaseMs } = this.#terms;
    this.#version = await kv.set(key, this.#terms.value(), { ifVersion, expiresInMs: leaseMs, durable: false });
  }

  renew(): Promise<Renewal> {
    const renewal = this.#renewing.then(() => this.#renew());
    this.#renewing = renewal.catch(() => undefined);
    return renewal;
  }

  /** Deletes the key, if it is still the one of this lease. */
  async release(): Promise<void> {
    this.#isReleased = true;
    await this.#renewing;
    const { kv, key } = this.#terms;
    await kv.delete(key, { ifVersion: this.#version, durable: false });
  }

  async #renew(): Promise<Renewal> {
    try {
      await this.claim(this.#version);
      return { status: "kept" };
    } catch (cause) {
      if (!isKitbagError(cause, "store-conflict")) throw cause;
      const found = await this.#terms.kv.get(this.#terms.key);
      if (found !== undefined && !this.#terms.isOwn(found.value)) return { status: "lost", found };
      await this.claim(found?.version ?? 0);
      // The key is still its own if only the answer to an earlier renewal was lost.
      return { status: found === undefined ? "doubtful" : "kept" };
    }
  }
}

/** Sees whether leases are still renewed, by a clock of this process that never goes back. */
export interface LeaseWatch {
  /** Whether the lease of `key` has had this version for so long that its process must be dead. */
  isDead(key: string, version: number, afterMs?: number): boolean;
  forget(key: string): void;
}

/** The most leases that a watch remembers. */
const maxWatched = 10_000;

/** Makes a watch, which knows no lease yet. */
export function createLeaseWatch(clock: Clock = machineClock): LeaseWatch {
  const seen = new Map<string, { readonly version: number; readonly since: number }>();
  return {
    isDead(key, version, afterMs = leaseMs) {
      const known = seen.get(key);
      if (known?.version === version) return clock.elapsed() - known.since >= afterMs;
      if (seen.size >= maxWatched) seen.clear();
      seen.set(key, { version, since: clock.elapsed() });
      return false;
    },
    forget: (key) => void seen.delete(key),
  };
}

/** How long {@link takeLease} holds a key that is not renewed, as by a process that was killed. */
export const leaseMs = 15_000;

/** How often it is tried to give back what could not be given back, and how often in all. */
const againMs = 1000;
const mostTries = leaseMs / againMs;

/** A key that this process holds, and renews until it ends. */
export interface Lease {
  /** Whether it was renewed in time. If not, another process may hold the key. */
  isHeld(): boolean;
  /** Gives it back. Never rejects: what cannot be given back now is given back when the store is there again, or expires. */
  end(): Promise<void>;
}

/** Takes a key, unless it is held, here or in another process. `over` is the version of a lease whose process is dead. */
export async function takeLease(kv: KeyValueStore, key: string, over = 0): Promise<Lease | undefined> {
  const token = crypto.randomUUID();
  const terms = { kv, key, leaseMs, value: () => token, isOwn: (value: JsonValue) => value === token };
  const lease = new KeyLease(terms);
  const askedAt = performance.now();
  try {
    await lease.claim(over);
  } catch (cause) {
    if (isKitbagError(cause, "store-conflict")) return undefined;
    // It may have been written all the same.
    void giveBack(terms);
    throw cause;
  }
  return keepRenewed(lease, terms, askedAt + leaseMs);
}

function keepRenewed(lease: KeyLease, terms: LeaseTerms, until: number): Lease {
  let heldUntil = until;

  async function renew(): Promise<void> {
    const askedAt = performance.now();
    // A lease that expired while this process stood still is taken again, if no other process has taken it since.
    const { status } = await lease.renew();
    if (status !== "lost" && heldUntil > 0) heldUntil = askedAt + leaseMs;
  }

  const timer = setInterval(() => void renew().catch(() => {}), leaseMs / 3).unref();
  return {
    isHeld: () => performance.now() < heldUntil,
    async end() {
      clearInterval(timer);
      heldUntil = 0;
      await lease.release().catch(() => void giveBack(terms));
    },
  };
}

async function giveBack({ kv, key, isOwn }: LeaseTerms): Promise<void> {
  for (let tries = 0; tries < mostTries; tries++) {
    try {
      const found = await kv.get(key);
      if (found !== undefined && isOwn(found.value)) await kv.delete(key, { ifVersion: found.version, durable: false });
      return;
    } catch (cause) {
      if (isKitbagError(cause, "store-closed")) return;
      await new Promise((resolve) => setTimeout(resolve, againMs).unref());
    }
  }
}
