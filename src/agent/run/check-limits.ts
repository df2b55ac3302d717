import type { StopReason } from "../run-result.ts";
import type { RunState } from "./run-state.ts";

/** Why a run must not ask the model again, if it must not. */
export function checkLimits(run: RunState): StopReason | undefined {
  const { limits, counter, signal, log } = run.parts;
  if (log.signal?.aborted === true) return "lost";
  if (signal.aborted) return "cancelled";
  if (run.step >= limits.maxSteps) return "steps";
  if (counter.tokens() >= limits.maxTokens) return "tokens";
  // A price that is not known was refused when the run began.
  if ((counter.cost() ?? 0) >= limits.maxCost) return "cost";
  if (run.calls >= limits.maxCalls) return "calls";
  return performance.now() - run.startedAt >= limits.maxMs ? "time" : undefined;
}
