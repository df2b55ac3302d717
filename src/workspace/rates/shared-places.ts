import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { KeyValueStore } from "../../core/store.ts";
import { takeLease, type Lease } from "../lease.ts";

/** So many calls at once, whoever makes them. */
export interface SharedLimit {
  readonly name: string;
  readonly max: number;
}

/** A place that a call has. */
export interface SharedPlace {
  /** Gives it to the next one who waits, or back. Never rejects. */
  free(): Promise<void>;
}

/**
 * Places for calls that run at once, counted together by all processes that share a store. Those who wait in one process go in the
 * order in which they came; processes in which somebody waits take turns.
 */
export interface SharedPlaces {
  /** Takes a place if one is free and nobody here waits for it. */
  take(limit: SharedLimit): Promise<SharedPlace | undefined>;
  /** Waits for a place, after `take` found none. `leave` stops waiting, and gives the place back if it has just come. */
  wait(limit: SharedLimit): { readonly promise: Promise<SharedPlace>; leave(): void };
}

/** Makes the places that are counted in `kv`. */
export function createSharedPlaces(kv: KeyValueStore): SharedPlaces {
  const process = crypto.randomUUID();
  const rooms = new Map<string, Room>();

  function roomOf({ name, max }: SharedLimit): Room {
    const room = rooms.get(name) ?? new Room(kv, name, process);
    rooms.set(name, room);
    room.max = max;
    return room;
  }

  return {
    take: (limit) => roomOf(limit).take(),
    wait: (limit) => roomOf(limit).wait(),
  };
}

/** How long until somebody who waits looks again, more or less. */
const pollMs = 25;
/** So long one process takes places again and again, before it asks whether others wait. */
const sliceMs = 100;
/** So long nobody here takes a place that was left to others. */
const restMs = 3 * pollMs;
/** So long the others know that somebody here waits. */
const wishMs = 1000;

interface Waiter {
  readonly enter: (place: SharedPlace) => void;
  readonly fail: (cause: unknown) => void;
}

/** The places of one limit, as one process sees them. Each has a number below the limit: a key, and whoever has its lease is in. */
class Room {
  max = 0;
  readonly #kv: KeyValueStore;
  readonly #numbers: string;
  readonly #wishes: string;
  readonly #wish: string;
  readonly #waiting = new Set<Waiter>();
  #askedAt = 0;
  #restUntil = 0;
  #isLooking = false;

  constructor(kv: KeyValueStore, name: string, process: string) {
    const digest = hash("sha256", name).slice(0, 32);
    this.#kv = kv;
    this.#numbers = `place:${digest}:`;
    this.#wishes = `place-wish:${digest}:`;
    this.#wish = `${this.#wishes}${process}`;
  }

  async take(): Promise<SharedPlace | undefined> {
    if (this.#waiting.size > 0 || this.#isResting()) return undefined;
    // Most often it is free: one step for calls that need not wait.
    const guessed = await takeLease(this.#kv, this.#keyOf(Math.floor(Math.random() * this.max)));
    const lease = guessed ?? (await this.#takeFree());
    return lease && this.#toPlace(lease);
  }

  wait(): ReturnType<SharedPlaces["wait"]> {
    const { promise, resolve: enter, reject: fail } = Promise.withResolvers<SharedPlace>();
    const waiter: Waiter = { enter, fail };
    this.#waiting.add(waiter);
    if (!this.#isLooking) void this.#look();
    const leave = (): void => {
      if (!this.#waiting.delete(waiter)) void promise.then((place) => place.free()).catch(ignore);
    };
    return { promise, leave };
  }

  #keyOf(number: number): string {
    // In the order of the numbers.
    return `${this.#numbers}${String(number).padStart(16, "0")}`;
  }

  async #takeFree(): Promise<Lease | undefined> {
    for (;;) {
      const listed = await this.#kv.list({ prefix: this.#numbers, limit: this.max });
      const taken = new Set(listed.map(([key]) => Number(key.slice(this.#numbers.length))));
      const free = pickFree(taken, this.max);
      if (free === undefined) return undefined;
      const lease = await takeLease(this.#kv, this.#keyOf(free));
      // Otherwise somebody was faster: look again.
      if (lease !== undefined) return lease;
    }
  }

  #toPlace(lease: Lease): SharedPlace {
    const place: SharedPlace = {
      free: async () => {
        if (performance.now() - this.#askedAt > sliceMs) {
          this.#askedAt = performance.now();
          if (await this.#isWantedElsewhere()) this.#restUntil = performance.now() + restMs;
        }
        const next = this.#isResting() ? undefined : this.#shift();
        if (next === undefined) await lease.end();
        else next.enter(place);
      },
    };
    return place;
  }

  #isResting(): boolean {
    return performance.now() < this.#restUntil;
  }

  #shift(): Waiter | undefined {
    const [first] = this.#waiting;
    if (first !== undefined) this.#waiting.delete(first);
    return first;
  }

  async #isWantedElsewhere(): Promise<boolean> {
    try {
      const wishes = await this.#kv.list({ prefix: this.#wishes, limit: 2 });
      return wishes.some(([key]) => key !== this.#wish);
    } catch {
      // Who cannot know it keeps nothing from others.
      return true;
    }
  }

  /** Looks for a place from time to time, for the first of those who wait, as long as somebody does. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    let toldAt = Number.NEGATIVE_INFINITY;
    try {
      while (this.#waiting.size > 0) {
        if (performance.now() - toldAt > wishMs / 2) {
          toldAt = performance.now();
          await this.#kv.set(this.#wish, true, { expiresInMs: wishMs, durable: false });
        }
        await sleep(pollMs * (0.5 + Math.random()));
        if (!this.#isResting()) await this.#letIn();
      }
    } catch (cause) {
      for (const { fail } of this.#waiting) fail(cause);
      this.#waiting.clear();
    }
    this.#isLooking = false;
    // What cannot be taken back ends by itself.
    await this.#kv.delete(this.#wish, { durable: false }).catch(ignore);
  }

  async #letIn(): Promise<void> {
    const lease = await this.#takeFree();
    if (lease === undefined) return;
    const place = this.#toPlace(lease);
    const next = this.#shift();
    if (next === undefined) await place.free();
    else next.enter(place);
  }
}

/** One of the numbers below `max` that are not taken, whichever: two who look at once had better not pick the same. */
function pickFree(taken: ReadonlySet<number>, max: number): number | undefined {
  const isFull = [...taken].filter((number) => number < max).length >= max;
  if (isFull) return undefined;
  for (;;) {
    const number = Math.floor(Math.random() * max);
    if (!taken.has(number)) return number;
  }
}

function ignore(): void {}
