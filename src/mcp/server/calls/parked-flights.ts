import { randomBytes } from "node:crypto";

import { LRUCache } from "lru-cache";

import type { Flight } from "./flight.ts";

/** Calls that wait for a client to come back with answers. */
export interface ParkedFlights<Result> {
  /** Keeps a call; answers with the unguessable text that the client sends back. */
  park(flight: Flight<Result>, belongsTo: string): string;
  /** Takes a call out. `undefined` if there is none of this text, or it does not belong to whoever asks: nobody learns which. */
  take(state: string, belongsTo: string): Flight<Result> | undefined;
  /** Ends all of them. */
  closeAll(): void;
}

interface Parked<Result> {
  readonly flight: Flight<Result>;
  readonly belongsTo: string;
}

/** Makes a place for calls that wait. Those that wait too long are ended, and the oldest ones if there are too many. */
export function createParkedFlights<Result>(most: number, waitMs: number): ParkedFlights<Result> {
  const parked = new LRUCache<string, Parked<Result>>({
    max: most,
    ttl: waitMs,
    ttlAutopurge: true,
    dispose({ flight }, _state, reason) {
      if (reason !== "delete") flight.abort(new Error("Nobody answered in time"));
    },
  });

  return {
    park(flight, belongsTo) {
      const state = randomBytes(24).toString("base64url");
      parked.set(state, { flight, belongsTo });
      return state;
    },
    take(state, belongsTo) {
      const found = parked.peek(state);
      if (found?.belongsTo !== belongsTo) return undefined;
      parked.delete(state);
      return found.flight;
    },
    closeAll() {
      for (const { flight } of parked.values()) flight.abort(new Error("The server is closing"));
      parked.clear();
    },
  };
}
