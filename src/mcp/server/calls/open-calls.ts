import { randomBytes } from "node:crypto";

import { LRUCache } from "lru-cache";

import type { Caller } from "../../../gate/gate.ts";
import type { PausableCall } from "./pausable-call.ts";

/** The calls that run, by caller: within the session of one token, another token of the same user may have made a call. */
export interface RunningCalls {
  /** Notes a call of a caller until the returned function is called. `stop` is called if the caller's token is revoked. */
  begin(caller: Caller, stop: (reason: Error) => void): () => void;
  /** Ends the calls of a caller (compared as an object), and each call that it begins later. */
  stopOf(caller: Caller): void;
  /** Ends the calls of all callers: the server closes. */
  stopAll(): void;
}

/** Why calls end when the server closes. */
export class ServerClosingError extends Error {}

/** Makes an empty set of running calls. */
export function createRunningCalls(): RunningCalls {
  const running = new Map<Caller, Set<(reason: Error) => void>>();
  const revoked = new WeakSet<Caller>();
  const toReason = ({ id }: Caller): Error => new Error(`The token of ${id} is no longer valid for this call`);

  return {
    begin(caller, stop) {
      if (revoked.has(caller)) stop(toReason(caller));
      const stops = running.get(caller) ?? new Set();
      running.set(caller, stops.add(stop));
      return () => {
        stops.delete(stop);
        if (stops.size === 0) running.delete(caller);
      };
    },
    stopOf(caller) {
      revoked.add(caller);
      for (const stop of running.get(caller) ?? []) stop(toReason(caller));
    },
    stopAll() {
      const reason = new ServerClosingError(
        "The server is closing, and the call was not done in time; call again when it is back",
      );
      for (const stops of running.values()) for (const stop of stops) stop(reason);
    },
  };
}

/** The calls that wait for a client to come back with answers. */
export interface PausedCalls {
  /** Keeps a call; answers with the unguessable text that the client must send back. */
  keep(call: PausableCall, owner: string): string;
  /** Takes a call out; `undefined` if the text is unknown or the call belongs to another owner: clients cannot tell which. */
  take(state: string, owner: string): PausableCall | undefined;
  /** Ends all of them. */
  closeAll(): void;
}

/** Makes an empty set of paused calls. A call that waits longer than `waitMs` is ended; beyond `max`, so is the oldest. */
export function createPausedCalls(max: number, waitMs: number): PausedCalls {
  const paused = new LRUCache<string, { readonly call: PausableCall; readonly owner: string }>({
    max,
    ttl: waitMs,
    ttlAutopurge: true,
    dispose({ call }, _state, reason) {
      if (reason !== "delete") call.abort(new Error("The client did not answer in time"));
    },
  });

  return {
    keep(call, owner) {
      const state = randomBytes(24).toString("base64url");
      paused.set(state, { call, owner });
      return state;
    },
    take(state, owner) {
      const found = paused.peek(state);
      if (found?.owner !== owner) return undefined;
      paused.delete(state);
      return found.call;
    },
    closeAll() {
      for (const { call } of paused.values()) call.abort(new Error("The server is closing"));
      paused.clear();
    },
  };
}
