import type { RunOptions } from "../agent-options.ts";
import type { RunTrace } from "../telemetry/run-trace.ts";
import type { EventFeed } from "./event-feed.ts";

/** What is there before a run has begun. */
export interface RunStart {
  readonly id: string;
  readonly options: RunOptions;
  readonly feed: EventFeed;
  readonly signal: AbortSignal;
  /** Its spans, if somebody wants them. */
  readonly trace?: RunTrace | undefined;
}
