/** Gives waiting calls numbers so that no user is held up by another one with many calls. */
export interface FairOrder {
  /** The number of one more call of `user`: the smaller it is, the sooner the call goes. Higher priorities go before all lower ones. */
  next(user: string, priority: number): number;
  /** Must be told the number of each call that goes. */
  went(turn: number): void;
  /** Must be called when no call waits any more. */
  reset(): void;
}

/** A call that waits. */
export interface Numbered {
  readonly turn: number;
  /** Among equal turns, the earlier arrival goes first: no two calls have the same. */
  readonly arrival: number;
}

/** The order in which calls go. */
export function byTurn(left: Numbered, right: Numbered): number {
  return left.turn - right.turn || left.arrival - right.arrival;
}

/** More than calls that can wait at the same time. */
const stepOfPriority = 1_000_000_000;

/**
 * Makes an order that goes round: the first call of each waiting user, then the second of each, however many calls a user has. Calls
 * of one user go first come, first served.
 */
export function createFairOrder(): FairOrder {
  const last = new Map<string, number>();
  let round = 0;

  return {
    next(user, priority) {
      const turn = Math.max(round, last.get(user) ?? 0) + 1;
      last.set(user, turn);
      return turn - priority * stepOfPriority;
    },
    went(turn) {
      const inRound = ((turn % stepOfPriority) + stepOfPriority) % stepOfPriority;
      round = Math.max(round, inRound - 1);
    },
    reset() {
      last.clear();
      round = 0;
    },
  };
}
