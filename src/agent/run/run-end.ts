import type { Failure } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { estimateCost } from "../../models/prices/estimate-cost.ts";
import type { RunResult, StopReason } from "../run-result.ts";
import type { RunState } from "./run-state.ts";

/** How the loop of a run ended. */
export type RunEnd =
  | { readonly status: "ok"; readonly output: JsonValue }
  | { readonly status: "failed"; readonly error: Failure }
  | { readonly status: "cut"; readonly error: Failure }
  | { readonly status: "refused"; readonly error: Failure }
  | { readonly status: "stopped"; readonly reason: StopReason }
  | { readonly status: "paused" };

/** Tells whether a run can be resumed: it was stopped or taken over by another process, or the store was unreachable. */
export function canGoOn({ status, reason, error }: Pick<RunResult, "status" | "reason" | "error">): boolean {
  if (status === "stopped") return reason === "cancelled" || reason === "lost";
  return status === "failed" && error !== undefined && storeFailures.has(error.code);
}

const storeFailures: ReadonlySet<string> = new Set([
  "store-unavailable",
  "store-conflict",
  "store-closed",
  "store-failed",
]);

/** What a run is stopped with when its time is up. */
export const timeIsUp = new DOMException("The time of the run is up", "TimeoutError");

/** Why a run was stopped whose signal is aborted. */
export function toStopReason({ reason }: AbortSignal): "time" | "cancelled" {
  return reason === timeIsUp ? "time" : "cancelled";
}

/** Why a run must not ask the model again, if it must not. */
export function checkLimits(run: RunState): StopReason | undefined {
  const { limits, signal, log } = run.parts;
  if (log.signal?.aborted === true) return "lost";
  if (signal.aborted) return toStopReason(signal);
  if (run.step + run.askedAgain >= limits.maxSteps) return "steps";
  const spent = checkSpent(run);
  if (spent !== undefined) return spent;
  if (run.calls >= limits.maxCalls) return "calls";
  return performance.now() - run.startedAt >= limits.maxMs ? "time" : undefined;
}

/** Why a run must not ask the model again because of what it, or a run that waits for it, has used; if it must not. */
export function checkSpent(run: RunState): StopReason | undefined {
  if (leftOf(run, tokensLeft) <= 0) return "tokens";
  const left = leftOf(run, costLeft);
  return left !== Infinity && goesOver(run, left) ? "cost" : undefined;
}

/** What is left for a run: what is left for it alone, or for one of those that wait for it. Sub-agents that work at once share that. */
function leftOf(run: RunState, leftFor: (run: RunState) => number): number {
  const above = run.parts.start.parent?.run;
  return above === undefined ? leftFor(run) : Math.min(leftFor(run), leftOf(above, leftFor));
}

function tokensLeft({ parts: { limits, counter } }: RunState): number {
  return limits.maxTokens === Infinity ? Infinity : limits.maxTokens - counter.spentTokens();
}

function costLeft({ parts: { limits, counter } }: RunState): number {
  return limits.maxCost === Infinity ? Infinity : limits.maxCost - counter.spent();
}

/**
 * Whether the next question would cost more than what is left: not if it might, but if it does even when all its input comes from a
 * cache and nothing is answered. So what the last answer costs may go over the limit, and nothing after it.
 */
function goesOver({ parts, messages }: RunState, left: number): boolean {
  const { exposure, model, priceOf, settings } = parts;
  if (left <= 0) return true;
  const { system, tools } = exposure.view();
  const { maxOutputTokens } = settings;
  const { least = 0 } = estimateCost(model, priceOf, { system, tools, messages, maxOutputTokens });
  return least > left;
}
