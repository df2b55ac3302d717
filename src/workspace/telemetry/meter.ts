import type { ToolOutcome } from "../../core/outcome.ts";
import type { CallStats } from "../../records/stats/call-stats.ts";
import { createCallTally, type TallyOptions } from "../../records/stats/call-tally.ts";
import type { Resolution } from "../registry/registered-tool.ts";

/** What of a call is counted beside its outcome. */
interface MeteredCall {
  readonly resolution: Resolution;
  /** On the clock of `performance`. */
  readonly startedAt: number;
  readonly queuedMs: number;
  readonly costUsd: number;
  readonly user: string | undefined;
}

/** Counts the calls of a workspace while it lives. */
export interface Meter {
  /** Calls that have begun and are not over. */
  open: number;
  count(call: MeteredCall, outcome: ToolOutcome): void;
  stats(options?: TallyOptions): CallStats;
}

/** Makes a meter that has counted nothing. */
export function createMeter(): Meter {
  const tally = createCallTally();
  const since = Date.now();
  return {
    open: 0,
    count({ resolution, startedAt, queuedMs, costUsd, user }, outcome) {
      tally.add({
        tool: resolution.ok ? resolution.entry.address : undefined,
        owner: resolution.ok && resolution.entry.source !== "global" ? resolution.entry.owner : undefined,
        durationMs: performance.now() - startedAt,
        queuedMs,
        costUsd,
        user,
        code: outcome.status === "failed" ? outcome.error.code : undefined,
        recalled: outcome.status === "ok" && outcome.recalled !== undefined,
      });
    },
    stats: (options) => tally.toStats(since, Date.now(), options),
  };
}
