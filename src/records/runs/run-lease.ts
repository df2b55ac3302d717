import { randomUUID } from "node:crypto";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { KeyValueStore, VersionedValue } from "../../core/store.ts";
import type { Clock } from "../../platform/clock.ts";
import { createLeaseWatch, KeyLease } from "../../platform/lease.ts";

/** The right of one worker to work on a run for a time. It is kept in `kv`; the journal protects itself against other writers. */
export interface Lease {
  /**
   * Renews the lease. Answers `kept`, or `doubtful` if the lease had expired and was free: then the journal says whether another
   * worker held it in between.
   *
   * @throws {KitbagError} `run-leased` if another worker has it.
   */
  renew(): Promise<"kept" | "doubtful">;
  /** Releases the lease, if it is still held. */
  release(): Promise<void>;
}

/** What {@link createLeases} needs: the worker that takes leases, and where they are kept. */
export interface LeaseOptions {
  readonly kv: KeyValueStore;
  readonly worker: string;
  readonly leaseMs: number;
  readonly clock: Clock;
}

/** Takes leases, and finds their owners. */
export interface Leases {
  /** @throws {KitbagError} `run-leased` if another worker has it. */
  take(runId: string): Promise<Lease>;
  /** The owner of the lease, if it is held. */
  find(runId: string): Promise<HeldLease | undefined>;
  /** The runs in `runIds` whose lease is free. */
  findFree(runIds: readonly string[]): Promise<readonly string[]>;
}

/** A lease that a worker holds. */
export interface HeldLease {
  readonly worker: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

interface KeptLease extends HeldLease {
  /** Which opening of the run it is. */
  readonly token: string;
  readonly leaseMs: number;
}

/** Makes the leases of the runs in a store, for one worker. */
export function createLeases({ kv, worker, leaseMs, clock }: LeaseOptions): Leases {
  const watch = createLeaseWatch(clock);

  /**
   * Whether the lease is held. A lease that was not renewed for its whole duration has expired, whatever the wall clock says:
   * otherwise it would last longer when the clock is set back.
   */
  function isHeld(runId: string, found: VersionedValue | undefined): boolean {
    if (found !== undefined) return !watch.isDead(runId, found.version, toKeptLease(found).leaseMs);
    watch.forget(runId);
    return false;
  }

  return {
    async take(runId) {
      const key = toLeaseKey(runId);
      const found = await kv.get(key);
      if (found && isHeld(runId, found)) refuse(runId, found);
      const lease = createKeyLease({ kv, worker, leaseMs, clock }, runId);
      await lease.claim(found?.version ?? 0).catch(async (cause: unknown) => {
        const other = isKitbagError(cause, "store-conflict") ? await kv.get(key) : undefined;
        throw other ? toRefusal(runId, other, cause) : cause;
      });
      watch.forget(runId);
      return toLease(runId, lease);
    },
    async find(runId) {
      const found = await kv.get(toLeaseKey(runId));
      if (!found || !isHeld(runId, found)) return undefined;
      const { worker, until } = toKeptLease(found);
      return { worker, until };
    },
    async findFree(runIds) {
      const held = await listLeases(kv);
      return runIds.filter((runId) => !isHeld(runId, held.get(toLeaseKey(runId))));
    },
  };
}

function createKeyLease({ kv, worker, leaseMs, clock }: LeaseOptions, runId: string): KeyLease {
  const token = randomUUID();
  const value = (): JsonObject => ({ worker, token, leaseMs, until: clock.now() + leaseMs });
  const isOwn = (found: JsonValue): boolean => (found as unknown as KeptLease).token === token;
  return new KeyLease({ kv, key: toLeaseKey(runId), leaseMs, value, isOwn });
}

function toLease(runId: string, lease: KeyLease): Lease {
  return {
    async renew() {
      const renewal = await lease.renew();
      if (renewal.status === "lost") refuse(runId, renewal.found);
      return renewal.status;
    },
    release: () => lease.release(),
  };
}

function toKeptLease({ value }: VersionedValue): KeptLease {
  return value as unknown as KeptLease;
}

function refuse(runId: string, found: VersionedValue): never {
  throw toRefusal(runId, found);
}

function toRefusal(runId: string, found: VersionedValue, cause?: unknown): KitbagError<"run-leased"> {
  const { worker, until } = toKeptLease(found);
  return new KitbagError("run-leased", { run: runId, worker, until: new Date(until).toISOString() }, { cause });
}

const leasePrefix = "run-lease:";

function toLeaseKey(runId: string): string {
  return leasePrefix + runId;
}

/** All leases, by key. */
async function listLeases(kv: KeyValueStore): Promise<ReadonlyMap<string, VersionedValue>> {
  const all = new Map<string, VersionedValue>();
  for (let after = ""; ;) {
    const page = await kv.list({ prefix: leasePrefix, after });
    for (const [key, value] of page) all.set(key, value);
    const last = page.at(-1);
    if (!last) return all;
    after = last[0];
  }
}
