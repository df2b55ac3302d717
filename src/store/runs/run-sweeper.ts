import type { Queue } from "../../core/queue.ts";
import type { Leases } from "./run-lease.ts";
import type { RunMarkers } from "./run-markers.ts";

/** What a sweeper needs. */
export interface SweeperOptions {
  readonly queue: Queue;
  readonly markers: RunMarkers;
  readonly leases: Leases;
}

/** Finds what fell through: runs whose worker vanished, and runs that a queue has lost. */
export interface Sweeper {
  /** Answers with the runs that somebody was working on and nobody does any more. */
  sweep(): Promise<readonly string[]>;
}

/** Each so many sweeps the queued runs are looked at, too. */
const sweepsForQueued = 20;

/** Makes a sweeper for one worker. */
export function createSweeper({ queue, markers, leases }: SweeperOptions): Sweeper {
  let suspects: ReadonlySet<string> = new Set();
  let sweeps = 0;
  let queuedAfter = "";

  /** Adds again what should be in the queue: it takes no notice of what it has. One page a time. */
  async function restoreQueued(): Promise<void> {
    const runIds = await markers.listQueued(queuedAfter);
    await Promise.all(runIds.map((runId) => queue.add(runId)));
    queuedAfter = runIds.at(-1) ?? "";
  }

  return {
    async sweep() {
      if (sweeps % sweepsForQueued === 0) await restoreQueued();
      sweeps += 1;
      // The running ones first: a run gets its lease before it is among them.
      const free = await leases.findFree(await listAll(markers.listRunning));
      // One that is just being given back is without a lease for a moment: only who is seen twice is an orphan.
      const orphans = free.filter((runId) => suspects.has(runId));
      suspects = new Set(free);
      return orphans;
    },
  };
}

async function listAll(list: (after: string) => Promise<readonly string[]>): Promise<readonly string[]> {
  const all: string[] = [];
  for (;;) {
    const page = await list(all.at(-1) ?? "");
    if (page.length === 0) return all;
    all.push(...page);
  }
}
