import type { Caller } from "../../../gate/gate.ts";

/** The calls that run, and whose they are: in a session of one token, another token of the same user may have made one. */
export interface RunningCalls {
  /** Notes a call of a caller until the function that it answers with is called. `stop` is called if the caller's token is gone. */
  begin(caller: Caller, stop: (reason: Error) => void): () => void;
  /** Ends the calls of a caller, the same object, and each that it begins later. */
  stopOf(caller: Caller): void;
}

/** Makes an empty set of calls. */
export function createRunningCalls(): RunningCalls {
  const running = new Map<Caller, Set<(reason: Error) => void>>();
  const gone = new WeakSet<Caller>();
  const toReason = ({ id }: Caller): Error => new Error(`The token of ${id} is no longer good for it`);

  return {
    begin(caller, stop) {
      if (gone.has(caller)) stop(toReason(caller));
      const stops = running.get(caller) ?? new Set();
      running.set(caller, stops.add(stop));
      return () => {
        stops.delete(stop);
        if (stops.size === 0) running.delete(caller);
      };
    },
    stopOf(caller) {
      gone.add(caller);
      for (const stop of running.get(caller) ?? []) stop(toReason(caller));
    },
  };
}
