import type { Queue, Store } from "../../core/store.ts";
import type { Clock } from "../../platform/clock.ts";

/** What `createRuns` takes. */
export interface RunsOptions {
  readonly store: Store;
  /** Who works here: shown to those who want the same run. @default a random text */
  readonly worker?: string;
  /** For how long a run stays with a worker that does not answer any more, at least 30. @default 10000 */
  readonly leaseMs?: number;
  /** What carries the ids of the runs that somebody is to work on. @default the queue "runs" of the store */
  readonly queue?: Queue;
  /** @default the clock of the machine */
  readonly clock?: Clock;
}
