import { hash } from "node:crypto";

import { isKitbagError } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { createLeaseWatch, takeLease, type Lease } from "../../platform/lease.ts";

/** Places for calls that run at once, of which all processes that share a store have only so many together. */
export interface SharedPermits {
  /** How many of them all processes have together. */
  max: number;
  /** How many this process has now. */
  size(): number;
  /**
   * Says how many are in use, and how many more are wanted. What is not needed, or is the turn of others, is given back; what is
   * missing is looked for.
   */
  need(used: number, wanted: number): void;
  /** Gets one more now if one is free, even if other processes wait for it, and keeps it until the answer is called, needed or not. */
  grow(): Promise<() => void>;
}

/** Who hears of a permits. */
export interface PermitsListener {
  /** There are more places than before. */
  onMore(): void;
  /** The store has failed for too long to go on waiting. */
  onFailed(cause: unknown): void;
}

/** Makes supplies whose places are counted in `kv`. */
export type OpenPermits = (name: string, max: number, listener: PermitsListener) => SharedPermits;

/** Makes what opens supplies. */
export function createSharedPermits(kv: KeyValueStore): OpenPermits {
  const process = crypto.randomUUID();
  return (name, max, listener) => new KeptPermits({ kv, process, name, listener }, max);
}

/** How many of the places of a name are taken in all processes; those of a process that died count until their leases end. */
export async function countPlaces(kv: KeyValueStore, name: string): Promise<number> {
  return (await kv.list({ prefix: toNumbers(name), limit: mostCounted })).length;
}

const mostCounted = 100_000;

function toNumbers(name: string): string {
  return `place:${hash("sha256", name).slice(0, 32)}:`;
}

/** How long a waiting process pauses before it looks again, more or less. */
const pollMs = 50;
/** How long a process keeps its last place while another process waits without one. */
const sliceMs = 500;
/** How long a process takes no new place after it gave one up for others. */
const restMs = 3 * pollMs;
/** How long the other processes know that calls wait here. */
const wishMs = 1000;
/** A store that is away for longer is not waited for. */
const patienceMs = 5000;

interface PermitsParts {
  readonly kv: KeyValueStore;
  readonly process: string;
  readonly name: string;
  readonly listener: PermitsListener;
}

/** Each place has a number below the limit, which is a key of the store: the process with its lease has the place. */
class KeptPermits implements SharedPermits {
  max: number;
  readonly #parts: PermitsParts;
  readonly #numbers: string;
  readonly #wishes: string;
  readonly #leases = new Set<Lease>();
  readonly #watch = createLeaseWatch();
  /** How many places each of the other processes has that wait for more. */
  #others: readonly number[] = [];
  #demand = 0;
  #reserved = 0;
  #turnAt = 0;
  #restUntil = 0;
  #isLooking = false;
  #hasWish = false;

  constructor(parts: PermitsParts, max: number) {
    this.max = max;
    this.#parts = parts;
    this.#numbers = toNumbers(parts.name);
    this.#wishes = `place-wish:${this.#numbers.slice("place:".length)}`;
  }

  size(): number {
    let size = 0;
    for (const lease of this.#leases) if (lease.isHeld()) size += 1;
    return size;
  }

  need(used: number, wanted: number): void {
    this.#demand = used + wanted;
    const size = this.size();
    const surplus = this.#leases.size - used - wanted - this.#reserved;
    const idle = size - used - this.#reserved;
    if (surplus > 0) this.#giveBack(surplus);
    else if (idle > 0) this.#giveBack(Math.min(idle, this.#countForOthers(size)));
    if (this.#demand > this.size() && !this.#isLooking) void this.#look();
  }

  async grow(): Promise<() => void> {
    this.#reserved += 1;
    const release = (): void => void (this.#reserved -= 1);
    try {
      if (this.size() < this.max) await this.#take(1);
    } catch (cause) {
      release();
      throw cause;
    }
    return release;
  }

  /** How many permits to yield now: those beyond a fair share; or one, if another process has waited too long for its first permit. */
  #countForOthers(size: number): number {
    const share = this.#share();
    if (size > share) return size - share;
    const isTheirTurn = this.#others.includes(0) && performance.now() - this.#turnAt > sliceMs;
    if (!isTheirTurn) return 0;
    this.#turnAt = performance.now();
    this.#restUntil = performance.now() + restMs;
    return 1;
  }

  #share(): number {
    return Math.ceil(this.max / (1 + this.#others.length));
  }

  /** Gives back `count` places, first those whose lease has lapsed. */
  #giveBack(count: number): void {
    const inOrder = [...this.#leases].toSorted((left, right) => Number(left.isHeld()) - Number(right.isHeld()));
    for (const lease of inOrder.slice(0, count)) {
      this.#leases.delete(lease);
      void lease.end();
    }
  }

  /** Looks for what is missing, as long as something is. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    let workedAt = performance.now();
    while (this.#demand > this.size()) {
      try {
        const isMore = performance.now() >= this.#restUntil && (await this.#takeMissing());
        workedAt = performance.now();
        // Meanwhile more may be wanted.
        if (isMore) continue;
        await this.#meetOthers();
      } catch (cause) {
        const isTemporary = isKitbagError(cause, "store-unavailable") && performance.now() - workedAt < patienceMs;
        if (!isTemporary) {
          this.#demand = 0;
          this.#parts.listener.onFailed(cause);
        }
      }
      if (this.#demand > this.size()) await pause();
    }
    this.#isLooking = false;
    this.#others = [];
    if (!this.#hasWish) return;
    this.#hasWish = false;
    // What cannot be taken back ends by itself.
    await this.#parts.kv.delete(this.#ownWish(), { durable: false }).catch(ignore);
  }

  async #takeMissing(): Promise<boolean> {
    const room = (this.#others.length > 0 ? this.#share() : this.max) - this.size();
    const missing = Math.min(this.#demand - this.size(), room);
    const isMore = missing > 0 && (await this.#take(missing));
    if (isMore) this.#parts.listener.onMore();
    return isMore;
  }

  /** Tells the other processes that calls wait here, and learns which of them wait. */
  async #meetOthers(): Promise<void> {
    const { kv } = this.#parts;
    this.#hasWish = true;
    await kv.set(this.#ownWish(), this.size(), { expiresInMs: wishMs, durable: false });
    const wishes = await kv.list({ prefix: this.#wishes });
    this.#others = wishes.filter(([key]) => key !== this.#ownWish()).map(([, { value }]) => Number(value));
  }

  #ownWish(): string {
    return `${this.#wishes}${this.#parts.process}`;
  }

  /** Takes up to so many places that are free, and answers whether there was one. */
  async #take(count: number): Promise<boolean> {
    const isFirst = this.#leases.size === 0;
    // Most often the first one is free: one step for calls that need not wait.
    const isLikely = count === 1 && isFirst && !this.#hasWish;
    const guessed = isLikely ? await takeLease(this.#parts.kv, this.#keyOf(this.#guess())) : undefined;
    const taken = guessed === undefined ? await this.#takeListed(count) : [guessed];
    if (isFirst) this.#turnAt = performance.now();
    for (const lease of taken) this.#leases.add(lease);
    return taken.length > 0;
  }

  #guess(): number {
    return Math.floor(Math.random() * this.max);
  }

  async #takeListed(count: number): Promise<readonly Lease[]> {
    const { kv } = this.#parts;
    const listed = await kv.list({ prefix: this.#numbers, limit: this.max });
    const taken = new Map(listed.map(([key, { version }]) => [key, version]));
    const free = this.#findFree(taken, count);
    const settled = await Promise.allSettled(free.map((key) => takeLease(kv, key, taken.get(key) ?? 0)));
    const leases = settled.flatMap((one) => (one.status === "fulfilled" && one.value !== undefined ? [one.value] : []));
    const failed = settled.find((one) => one.status === "rejected");
    if (leases.length === 0 && failed !== undefined) throw failed.reason;
    return leases;
  }

  /** Some of the numbers that are free or whose process is dead, at random: two processes that look at once should not pick the same. */
  #findFree(taken: ReadonlyMap<string, number>, count: number): readonly string[] {
    const ends = this.#keyOf(this.max);
    const dead = [...taken]
      .filter(([key, version]) => key < ends && this.#watch.isDead(key, version))
      .map(([key]) => key);
    const alive = [...taken.keys()].filter((key) => key < ends).length - dead.length;
    const wanted = Math.min(count, this.max - alive);
    const free = new Set(dead.slice(0, wanted));
    while (free.size < wanted) {
      const key = this.#keyOf(this.#guess());
      if (!taken.has(key)) free.add(key);
    }
    return [...free];
  }

  #keyOf(number: number): string {
    // In the order of the numbers.
    return `${this.#numbers}${String(number).padStart(16, "0")}`;
  }
}

/** Two who look at once had better not do so again. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pollMs * (0.5 + Math.random())));
}

function ignore(): void {}
