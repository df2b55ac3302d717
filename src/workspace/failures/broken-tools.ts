import type { Tool } from "../../core/tool.ts";
import type { Entry } from "../entry.ts";

/** Tools that are taken out for a while, wherever they are. */
export interface BrokenTools {
  /** Until a time, by `performance.now()`; without one it comes back. */
  set(tool: Tool, until: number | undefined): void;
  /** Until when it is taken out, if it is. */
  until(entry: Pick<Entry, "tool">): number | undefined;
  /** Counts what was taken out and came back. */
  changes(): number;
}

/** Makes an empty list of broken tools. */
export function createBrokenTools(): BrokenTools {
  // By the tool itself: another one in its place is not broken.
  const broken = new WeakMap<Tool, number>();
  let changes = 0;

  return {
    set(tool, until) {
      changes += 1;
      if (until === undefined) broken.delete(tool);
      else broken.set(tool, until);
    },
    until: ({ tool }) => broken.get(tool),
    changes: () => changes,
  };
}
