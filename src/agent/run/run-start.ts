import type { RunOptions } from "../agent-options.ts";
import type { EventFeed } from "./event-feed.ts";

/** What is there before a run has begun. */
export interface RunStart {
  readonly id: string;
  readonly options: RunOptions;
  readonly feed: EventFeed;
  readonly signal: AbortSignal;
}
