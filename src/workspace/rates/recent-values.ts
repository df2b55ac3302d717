/** Values by subject that are worth something for a while only. */
export interface RecentValues<Value> {
  get(subject: string, now: number): Value | undefined;
  set(subject: string, value: Value, now: number): void;
}

/** Makes an empty list. A value that nobody has set for `keepMs` may be forgotten; until then it is there. */
export function createRecentValues<Value>(keepMs: number): RecentValues<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let turnedAt = Number.NEGATIVE_INFINITY;

  function turnTo(now: number): void {
    // The clock has gone back: everything is as old as it was.
    if (now < turnedAt) turnedAt = now;
    if (now - turnedAt < keepMs) return;
    old = young;
    young = new Map();
    turnedAt = now;
  }

  return {
    get(subject, now) {
      turnTo(now);
      return young.get(subject) ?? old.get(subject);
    },
    set(subject, value, now) {
      turnTo(now);
      young.set(subject, value);
    },
  };
}
