/** A call that took long. */
export interface SlowCall {
  readonly call: string;
  readonly tool: string;
  readonly durationMs: number;
  /** When it ended, in milliseconds since 1970. */
  readonly time: number;
}

const most = 5;

/** Makes a list of the five slowest calls of those that are added, the slowest first. */
export function createSlowest(): { add(call: SlowCall): void; list(): readonly SlowCall[] } {
  let list: readonly SlowCall[] = [];
  return {
    add(call) {
      const last = list[most - 1];
      if (last !== undefined && last.durationMs >= call.durationMs) return;
      list = [...list, call].toSorted((left, right) => right.durationMs - left.durationMs).slice(0, most);
    },
    list: () => list,
  };
}
