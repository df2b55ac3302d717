import type { JobOptions, KeyValueStore, Queue, VersionedValue } from "../../core/store.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Leases } from "./run-lease.ts";

const queuedPrefix = "run-queued:";
const runningPrefix = "run-running:";

/** How many runs are listed at a time. */
const markedPage = 1000;

/**
 * The lists of queued and of running runs: a queue has the same information, but may lose it. A run that is in neither list has
 * ended, was paused, or was never added.
 */
export interface RunMarkers {
  /** Marks a run as queued. Answers with the resulting job: an earlier mark wins where it is sooner, or more urgent. */
  setQueued(runId: string, job: QueuedJob): Promise<QueuedJob>;
  /** How it was queued, if it is. */
  findQueued(runId: string): Promise<QueuedJob | undefined>;
  /** Answers with the priority that it was queued with, also if that was before another worker began with it and vanished. */
  setRunning(runId: string): Promise<number>;
  /** Takes it out of the running ones; what was queued in the meantime stays queued. */
  removeRunning(runId: string): Promise<void>;
  /** Takes it out of both. */
  remove(runId: string): Promise<void>;
  listQueued(after: string): Promise<readonly QueuedRun[]>;
  listRunning(after: string): Promise<readonly string[]>;
}

/** How a run was queued. */
export type QueuedJob = Required<JobOptions>;

/** A run that waits for a worker. */
export interface QueuedRun extends QueuedJob {
  readonly runId: string;
  /** Another number each time that it is queued. */
  readonly version: number;
}

/** Makes the markers of the runs in a store. */
export function createRunMarkers(kv: KeyValueStore): RunMarkers {
  async function list(prefix: string, after: string): Promise<[runId: string, found: VersionedValue][]> {
    const found = await kv.list({ prefix, after: after === "" ? "" : prefix + after, limit: markedPage });
    return found.map(([key, value]) => [key.slice(prefix.length), value]);
  }

  async function findQueued(runId: string): Promise<QueuedJob | undefined> {
    const found = await kv.get(queuedPrefix + runId);
    return found && toJob(found);
  }

  async function findPriority(runId: string): Promise<number> {
    const queued = await findQueued(runId);
    return queued?.priority ?? Number((await kv.get(runningPrefix + runId))?.value ?? 0);
  }

  return {
    async setQueued(runId, job) {
      const before = (await findQueued(runId)) ?? job;
      const delayMs = Math.min(before.delayMs, job.delayMs);
      const priority = Math.max(before.priority, job.priority);
      await kv.set(queuedPrefix + runId, { delayMs, priority });
      return { delayMs, priority };
    },
    findQueued,
    async setRunning(runId) {
      const priority = await findPriority(runId);
      // One after the other: there is no moment in which it is in neither list.
      await kv.set(runningPrefix + runId, priority);
      await kv.delete(queuedPrefix + runId);
      return priority;
    },
    async removeRunning(runId) {
      await kv.delete(runningPrefix + runId);
    },
    async remove(runId) {
      await Promise.all([kv.delete(runningPrefix + runId), kv.delete(queuedPrefix + runId)]);
    },
    async listQueued(after) {
      const found = await list(queuedPrefix, after);
      return found.map(([runId, value]) => ({ runId, version: value.version, ...toJob(value) }));
    },
    listRunning: async (after) => (await list(runningPrefix, after)).map(([runId]) => runId),
  };
}

function toJob({ value }: VersionedValue): QueuedJob {
  return value as unknown as QueuedJob;
}

/** What a sweeper needs. */
interface SweeperOptions {
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

/** One sweep in this many also checks the queued runs. */
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
