import type { Queue } from "../../core/store.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Leases } from "./run-lease.ts";
import { markedPage, type QueuedRun, type RunMarkers } from "./run-markers.ts";

/** What a sweeper needs. */
export interface SweeperOptions {
  readonly queue: Queue;
  readonly markers: RunMarkers;
  readonly leases: Leases;
  readonly leaseMs: number;
  readonly clock: Clock;
}

/** Finds what fell through: runs whose worker vanished, and runs that a queue has lost or holds back. */
export interface Sweeper {
  /** Answers with the runs that should be worked on and are not. To be called by a worker that has nothing else to do. */
  sweep(): Promise<readonly string[]>;
}

/** Each so many sweeps the queued runs are looked at, too. */
const sweepsForQueued = 20;

/** Makes a sweeper for one worker. */
export function createSweeper(options: SweeperOptions): Sweeper {
  const { markers, leases } = options;
  const findStuck = createStuckFinder(options);
  let suspects: ReadonlySet<string> = new Set();
  let sweeps = 0;

  return {
    async sweep() {
      const stuck = sweeps % sweepsForQueued === 0 ? await findStuck() : [];
      sweeps += 1;
      // The running ones first: a run gets its lease before it is among them.
      const free = await leases.findFree(await listAll(markers.listRunning));
      // One that is just being given back is without a lease for a moment: only who is seen twice is an orphan.
      const orphans = free.filter((runId) => suspects.has(runId));
      suspects = new Set(free);
      return [...orphans, ...stuck];
    },
  };
}

interface Sight {
  readonly version: number;
  readonly since: number;
}

/** Looks at one page of the queued runs at a time. */
function createStuckFinder({ queue, markers, leaseMs, clock }: SweeperOptions): () => Promise<readonly string[]> {
  let sights = new Map<string, Sight>();
  let seen = new Map<string, Sight>();
  let after = "";

  /** A queue goes by the time of day, and holds everything back when that is set back: what counts here is time that passed. */
  function isStuck({ runId, version, delayMs }: QueuedRun): boolean {
    const known = sights.get(runId);
    const sight = known?.version === version ? known : { version, since: clock.elapsed() };
    seen.set(runId, sight);
    return clock.elapsed() - sight.since >= delayMs + leaseMs;
  }

  return async () => {
    const queued = await markers.listQueued(after);
    // It puts nothing back that it has.
    await Promise.all(queued.map(({ runId, delayMs, priority }) => queue.add(runId, { delayMs, priority })));
    const stuck = queued.filter(isStuck).map(({ runId }) => runId);
    after = queued.length < markedPage ? "" : (queued.at(-1)?.runId ?? "");
    if (after === "") {
      // All pages were seen: what was not among them is queued no more.
      sights = seen;
      seen = new Map();
    }
    return stuck;
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
