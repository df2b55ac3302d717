import type { OpenSupply } from "../rates/supply.ts";
import { createSlots, type Slots } from "./slots.ts";

/** The places of each user: so many calls from outside of one user run at once, so that no user takes all places. */
export interface UserPlaces {
  /** The places of a user, in use until {@link UserPlaces.close}; nothing if users have as many as they like. */
  open(user: string): Slots | undefined;
  /** Once for each time that they were opened. */
  close(user: string): void;
}

interface Known {
  readonly slots: Slots;
  /** How many calls run or wait. */
  calls: number;
}

/** Makes the places of users. Only users with calls that run or wait are known. */
export function createUserPlaces(max: number, openSupply: OpenSupply): UserPlaces {
  const users = new Map<string, Known>();

  return {
    open(user) {
      if (max === Infinity) return undefined;
      const known = users.get(user) ?? { slots: createSlots({ maxTotal: max, per: "user", openSupply }), calls: 0 };
      known.calls += 1;
      users.set(user, known);
      return known.slots;
    },
    close(user) {
      const known = users.get(user) as Known;
      known.calls -= 1;
      if (known.calls === 0) users.delete(user);
    },
  };
}
