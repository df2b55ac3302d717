import type { Account } from "../../core/quotas.ts";
import type { OpenPermits } from "../rates/shared-permits.ts";
import { createSlots, type Slots } from "./slots.ts";

/** Places that are in use until they are closed. */
export interface OpenPlaces {
  readonly slots: Slots;
  close(): void;
}

/** The places of each user in this process: so many calls from outside of one user run at once, so that no user takes all places. */
export interface UserPlaces {
  /** The places of a user; nothing if users have as many as they like. */
  open(user: string): OpenPlaces | undefined;
}

/** The places that quotas give to users, in all processes together. */
export interface QuotaPlaces {
  open(account: Account): OpenPlaces;
}

/** Makes the places of users. */
export function createUserPlaces(max: number, openPermits: OpenPermits): UserPlaces {
  const open = createKnownPlaces();
  return {
    open(user) {
      if (max === Infinity) return undefined;
      return open(user, () => createSlots({ maxTotal: max, per: "user", openPermits }));
    },
  };
}

/** Makes the places of quotas. */
export function createQuotaPlaces(openPermits: OpenPermits): QuotaPlaces {
  const open = createKnownPlaces();
  return {
    open({ key, limits }) {
      const max = limits.concurrent as number;
      // Calls that run while the quota is changed keep their places in the store, which the others then do not get.
      return open(`${max} ${key}`, () =>
        createSlots({ maxTotal: max, maxTogether: max, name: toPlaceName(key), openPermits }),
      );
    },
  };
}

/** What the places of a user are called where all processes share them. */
export function toPlaceName(key: string): string {
  return `user:${key}`;
}

interface Known {
  readonly slots: Slots;
  /** How many calls run or wait. */
  calls: number;
}

/** Makes what opens places by name. Only those are known in which calls run or wait. */
function createKnownPlaces(): (name: string, create: () => Slots) => OpenPlaces {
  const places = new Map<string, Known>();
  return (name, create) => {
    const known = places.get(name) ?? { slots: create(), calls: 0 };
    known.calls += 1;
    places.set(name, known);
    return {
      slots: known.slots,
      close() {
        known.calls -= 1;
        if (known.calls === 0) places.delete(name);
      },
    };
  };
}
