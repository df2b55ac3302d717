import type { ToolRate } from "../../core/tool.ts";

/** Up to so many calls the moment of each is remembered, so that the limit holds exactly; of more than that, only their number is. */
export const maxMoments = 100;

/** The moments of calls that still count, the oldest first. */
export function toCounting(moments: readonly number[], inMs: number, now: number): number[] {
  // What is later than now is of a clock that has gone back since.
  return moments.map((moment) => Math.min(moment, now)).filter((moment) => moment > now - inMs);
}

/** How long until there is room for one more call; 0 if there is. */
export function waitForMoment({ calls, inMs }: ToolRate, counting: readonly number[], now: number): number {
  const first = counting[counting.length - calls];
  return first === undefined ? 0 : Math.ceil(first + inMs - now);
}

/** The moments without that of a call that did not happen, if it is among them. */
export function withoutMoment(moments: readonly number[], moment: number): number[] | undefined {
  const index = moments.lastIndexOf(moment);
  return index === -1 ? undefined : moments.toSpliced(index, 1);
}
