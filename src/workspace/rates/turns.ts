/** Numbers for those who wait, so that nobody is held up by one who asks a lot. */
export interface Turns {
  /** The number of one more call of `who`: the smaller it is, the sooner it goes. Higher priorities go before all lower ones. */
  next(who: string, priority: number): number;
  /** Must be told of the number of each that goes. */
  went(turn: number): void;
  /** Must be told when nobody waits any more. */
  reset(): void;
}

/** More than calls that can wait at the same time. */
const stepOfPriority = 1_000_000_000;

/**
 * Makes numbers that go round: the first call of each who waits, then the second of each, whoever came first and with how many. Among
 * calls of one it is first come, first served.
 */
export function createTurns(): Turns {
  const last = new Map<string, number>();
  let round = 0;

  return {
    next(who, priority) {
      const turn = Math.max(round, last.get(who) ?? 0) + 1;
      last.set(who, turn);
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
