import type { ToolOutcome } from "../../core/outcome.ts";
import type { CallStats } from "../../records/stats/call-stats.ts";
import { createCallTally } from "../../records/stats/call-tally.ts";
import type { Resolution } from "../registry/registered-tool.ts";

/** What of a call is counted beside its outcome. */
interface MeteredCall {
  readonly resolution: Resolution;
  /** On the clock of `performance`. */
  readonly startedAt: number;
  readonly queuedMs: number;
  readonly costUsd: number;
}

/** Counts the calls of a workspace while it lives. */
export interface Meter {
  count(call: MeteredCall, outcome: ToolOutcome): void;
  stats(): CallStats;
}

/** Makes a meter that has counted nothing. */
export function createMeter(): Meter {
  const tally = createCallTally();
  const since = Date.now();
  return {
    count({ resolution, startedAt, queuedMs, costUsd }, outcome) {
      tally.add({
        tool: resolution.ok ? resolution.entry.address : undefined,
        owner: resolution.ok && resolution.entry.source !== "global" ? resolution.entry.owner : undefined,
        durationMs: performance.now() - startedAt,
        queuedMs,
        costUsd,
        code: outcome.status === "failed" ? outcome.error.code : undefined,
        recalled: outcome.status === "ok" && outcome.recalled !== undefined,
      });
    },
    stats: () => tally.toStats(since, Date.now()),
  };
}
