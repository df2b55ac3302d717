import type { Phase } from "./phase.ts";

/** Ends the call if what was asked for is no tool. */
export const resolve: Phase = (call, next) => {
  if (call.resolution.ok) return next();
  return { status: "failed", error: call.resolution.failure };
};
