import { randomUUID } from "node:crypto";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { KeyValueStore, VersionedValue } from "../../core/store.ts";
import type { KeyChange } from "../../store/kept-append.ts";
import type { Clock } from "../../platform/clock.ts";

/** The time for which nobody else may take a run. It is kept in `kv`; what protects the journal is the journal itself. */
export interface Lease {
  /**
   * Starts the time anew. Answers `kept`, or `doubtful` if the time was over before and nobody had the lease: then the journal
   * says whether somebody had it in between.
   *
   * @throws {KitbagError} `run-leased` if somebody else has it.
   */
  renew(): Promise<"kept" | "doubtful">;
  /** What gives it back, for whoever can write that together with something else, and then says so. */
  toRelease(): KeyChange;
  /** Gives it back, if it is still there. */
  release(): Promise<void>;
  /** Says that it was given back with {@link Lease.toRelease}. */
  noteReleased(): void;
}

/** Who takes leases, and how. */
export interface LeaseOptions {
  readonly kv: KeyValueStore;
  readonly worker: string;
  readonly leaseMs: number;
  readonly clock: Clock;
}

/** Takes leases, and sees who has them. */
export interface Leases {
  /** @throws {KitbagError} `run-leased` if somebody else has it. */
  take(runId: string): Promise<Lease>;
  /**
   * Takes the lease of a run that nobody has had yet, by means of `write`: it writes it down together with something else, and answers
   * with the version.
   */
  begin(runId: string, write: (change: KeyChange) => Promise<number>): Promise<Lease>;
  /** Who has the lease, if somebody does. */
  find(runId: string): Promise<HeldLease | undefined>;
  /** The runs in `runIds` whose lease nobody has. */
  findFree(runIds: readonly string[]): Promise<readonly string[]>;
}

/** A lease that somebody has. */
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

interface Sight {
  readonly version: number;
  readonly since: number;
}

/** The most runs whose leases are remembered. */
const maxSights = 10_000;

/** Makes the leases of the runs in a store, for one worker. */
export function createLeases({ kv, worker, leaseMs, clock }: LeaseOptions): Leases {
  const sights = new Map<string, Sight>();

  /**
   * Whether the lease is held. One that was not renewed for its whole time is over, whatever the time of day is: after the clock
   * went back it would otherwise last for as long as that.
   */
  function isHeld(runId: string, found: VersionedValue | undefined): boolean {
    if (!found) {
      sights.delete(runId);
      return false;
    }
    const sight = sights.get(runId);
    if (sight?.version === found.version) return clock.elapsed() - sight.since < toKeptLease(found).leaseMs;
    if (sights.size >= maxSights) sights.clear();
    sights.set(runId, { version: found.version, since: clock.elapsed() });
    return true;
  }

  return {
    async take(runId) {
      const key = toLeaseKey(runId);
      const found = await kv.get(key);
      if (found && isHeld(runId, found)) refuse(runId, found);
      const lease = createLease({ kv, worker, leaseMs, clock }, runId, randomUUID());
      await lease.set(found?.version ?? 0).catch(async (cause: unknown) => {
        const other = isKitbagError(cause, "store-conflict") ? await kv.get(key) : undefined;
        throw other ? toRefusal(runId, other, cause) : cause;
      });
      sights.delete(runId);
      return lease;
    },
    async begin(runId, write) {
      const lease = createLease({ kv, worker, leaseMs, clock }, runId, randomUUID());
      await lease.begin(write);
      return lease;
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

function createLease(
  options: LeaseOptions,
  runId: string,
  token: string,
): Lease & {
  set(version: number): Promise<void>;
  begin(write: (change: KeyChange) => Promise<number>): Promise<void>;
} {
  const { kv, worker, leaseMs, clock } = options;
  const key = toLeaseKey(runId);
  let version = 0;
  let isReleased = false;
  let renewing: Promise<unknown> = Promise.resolve();

  const toValue = (): JsonObject => ({ worker, token, leaseMs, until: clock.now() + leaseMs });

  async function set(ifVersion: number): Promise<void> {
    // Who gives it back while it is being renewed must not find it renewed afterwards.
    if (isReleased) return;
    version = await kv.set(key, toValue(), { expiresInMs: leaseMs, ifVersion });
  }

  async function renew(): Promise<"kept" | "doubtful"> {
    try {
      await set(version);
      return "kept";
    } catch (cause) {
      if (!isKitbagError(cause, "store-conflict")) throw cause;
      const found = await kv.get(key);
      if (found && toKeptLease(found).token !== token) refuse(runId, found);
      await set(found?.version ?? 0);
      // It is ours if only the answer to an earlier renewal was lost.
      return found ? "kept" : "doubtful";
    }
  }

  return {
    set,
    async begin(write) {
      version = await write({ key, text: JSON.stringify(toValue()), ifVersion: 0, expiresInMs: leaseMs });
    },
    toRelease: () => ({ key, ifVersion: version }),
    noteReleased: () => void (isReleased = true),
    renew() {
      const renewed = renew();
      renewing = renewed.catch(() => undefined);
      return renewed;
    },
    async release() {
      isReleased = true;
      await renewing;
      await kv.delete(key, { ifVersion: version });
    },
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
