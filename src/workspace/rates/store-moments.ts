import { isKitbagError } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import type { ToolRate } from "../../core/tool.ts";
import { toCounting, waitForMoment, withoutMoment } from "./moments.ts";

/** The moments of calls, by key, in a store that several processes share. */
export interface StoreMoments {
  /** Adds one if the rate allows it, and answers 0; else how long until it may. */
  take(key: string, now: number): Promise<number>;
  giveBack(key: string, now: number): Promise<void>;
}

/** How many keys are remembered, so that what is there need not be read before each write. */
const maxRemembered = 10_000;

/** What is to be done with the moments of one key. */
interface Wish {
  readonly now: number;
  /** Makes of the moments that count what is to be there, or nothing if they may stay. Asked again if somebody else was faster. */
  readonly change: (counting: readonly number[]) => readonly number[] | undefined;
  readonly done: () => void;
  readonly fail: (cause: unknown) => void;
}

interface Seen {
  readonly version: number;
  readonly moments: readonly number[];
}

/** Makes the moments of one rate. One write for each call that may, or for all that come while another is being written. */
export function createStoreMoments(kv: KeyValueStore, rate: ToolRate): StoreMoments {
  const { inMs } = rate;
  const waiting = new Map<string, Wish[]>();
  let known = new Map<string, Seen>();

  async function work(key: string, wishes: Wish[]): Promise<void> {
    while (wishes.length > 0) {
      const some = wishes.splice(0);
      try {
        const seen = await fulfil({ kv, key, inMs }, some, known.get(key));
        if (known.size >= maxRemembered) known = new Map();
        known.set(key, seen);
        for (const { done } of some) done();
      } catch (cause) {
        known.delete(key);
        for (const { fail } of some) fail(cause);
      }
    }
    waiting.delete(key);
  }

  function ask(key: string, now: number, change: Wish["change"]): Promise<void> {
    return new Promise((done, fail) => {
      const wish = { now, change, done, fail };
      const wishes = waiting.get(key);
      if (wishes !== undefined) return void wishes.push(wish);
      const first = [wish];
      waiting.set(key, first);
      void work(key, first);
    });
  }

  return {
    async take(key, now) {
      let wait = 0;
      await ask(key, now, (counting) => {
        wait = waitForMoment(rate, counting, now);
        return wait === 0 ? [...counting, now] : undefined;
      });
      return wait;
    },
    giveBack: (key, now) => ask(key, now, (counting) => withoutMoment(counting, now)),
  };
}

interface Place {
  readonly kv: KeyValueStore;
  readonly key: string;
  readonly inMs: number;
}

/** Hears the wishes and writes what comes of them; `known` is what was there when this process saw it last. */
async function fulfil(place: Place, wishes: readonly Wish[], known: Seen | undefined): Promise<Seen> {
  const { kv, key, inMs } = place;
  // When nothing of it counts any more, it has expired.
  const isThere = known?.moments.some((moment) => moment > (wishes[0] as Wish).now - inMs) === true;
  let seen = isThere ? known : await look(place, known);
  for (;;) {
    const { moments, isChanged } = grant(seen.moments, wishes, inMs);
    if (!isChanged) return { version: seen.version, moments };
    try {
      const version = await kv.set(key, [...moments], { ifVersion: seen.version, expiresInMs: inMs, durable: false });
      return { version, moments };
    } catch (cause) {
      // Somebody else was faster: look again.
      if (!isKitbagError(cause, "store-conflict")) throw cause;
      seen = await look(place, known);
    }
  }
}

async function look({ kv, key }: Place, known: Seen | undefined): Promise<Seen> {
  const found = await kv.get(key);
  // It lies ahead, of a clock that has gone back: this process knows since when.
  if (known !== undefined && found?.version === known.version) return known;
  return { version: found?.version ?? 0, moments: Array.isArray(found?.value) ? (found.value as number[]) : [] };
}

/** What the moments become if all of the wishes are heard, one after the other. */
function grant(
  before: readonly number[],
  wishes: readonly Wish[],
  inMs: number,
): { readonly moments: readonly number[]; readonly isChanged: boolean } {
  let moments = before;
  let isChanged = false;
  for (const { now, change } of wishes) {
    const counting = toCounting(moments, inMs, now);
    const changed = change(counting);
    isChanged ||= changed !== undefined;
    moments = changed ?? counting;
  }
  return { moments, isChanged };
}
