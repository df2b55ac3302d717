import type { Tool } from "../../core/tool.ts";
import type { Entry } from "../entry.ts";

/** Tools that are taken out for a while. */
export interface BrokenTools {
  /** Until a time, by `performance.now()`; without one it comes back. */
  set(entry: Entry, until: number | undefined): void;
  /** Until when it is taken out, if it is. */
  until(entry: Entry): number | undefined;
  /** Counts what was taken out and came back. */
  changes(): number;
}

/** Makes an empty list of broken tools. */
export function createBrokenTools(): BrokenTools {
  const broken = new WeakMap<Tool, Map<string, number>>();
  let changes = 0;

  return {
    set({ tool, address }, until) {
      changes += 1;
      // One tool may be in several places, and another one in its place is not broken.
      const places = broken.get(tool) ?? new Map<string, number>();
      broken.set(tool, places);
      if (until === undefined) places.delete(address);
      else places.set(address, until);
    },
    until: ({ tool, address }) => broken.get(tool)?.get(address),
    changes: () => changes,
  };
}
