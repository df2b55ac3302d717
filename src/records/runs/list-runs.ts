import type { ListOptions, LogStore } from "../../core/store.ts";
import type { HeldLease, Leases } from "./run-lease.ts";
import type { RunMarkers } from "./run-markers.ts";
import { streamPrefix, toOutcome, toRecord, toStream, type RunRecord } from "./run-records.ts";

/** What part of the runs to list. */
export type ListRunsOptions = Omit<ListOptions, "prefix">;

/** A run, as a list shows it. */
export interface RunSummary {
  readonly id: string;
  /**
   * `queued` waits for a worker, `running` has one; `review` has a step that may have happened: see `Run.resolve`. `idle` is everything
   * else that has not ended: paused, or left by somebody who is no more there and was not a worker.
   */
  readonly status: "queued" | "running" | "review" | "idle" | "ok" | "failed";
  /** How many lines its journal has. */
  readonly entries: number;
  /** Milliseconds since 1970: when the last line was written. */
  readonly time: number;
  /** Who works on it, if somebody does. */
  readonly lease?: HeldLease;
}

/** What {@link listRuns} looks at. */
export interface RunLists {
  readonly log: LogStore;
  readonly leases: Pick<Leases, "find">;
  readonly markers: Pick<RunMarkers, "findQueued">;
}

/** Lists runs in the order of their ids, 100 if nobody says how many. */
export async function listRuns(lists: RunLists, options: ListRunsOptions = {}): Promise<readonly RunSummary[]> {
  const { after, limit = 100 } = options;
  const streams = await lists.log.streams({
    prefix: streamPrefix,
    limit,
    ...(after !== undefined && after !== "" && { after: toStream(after) }),
  });
  return Promise.all(streams.map((stream) => toSummary(lists, stream.slice(streamPrefix.length))));
}

async function toSummary({ log, leases, markers }: RunLists, id: string): Promise<RunSummary> {
  const stream = toStream(id);
  const entries = await log.position(stream);
  const [[last], lease, queued] = await Promise.all([
    log.read(stream, { after: entries - 1, limit: 1 }),
    leases.find(id),
    markers.findQueued(id),
  ]);
  const record = last && toRecord(last.value);
  const status = toStatus(record, lease !== undefined, queued !== undefined);
  return { id, status, entries, time: last?.time ?? 0, ...(status === "running" && lease && { lease }) };
}

function toStatus(last: RunRecord | undefined, isLeased: boolean, isQueued: boolean): RunSummary["status"] {
  if (last?.type === "run-end") return toOutcome(last).status;
  if (isLeased) return "running";
  if (isQueued) return "queued";
  return last?.type === "lease-end" && last.reason === "review" ? "review" : "idle";
}
