import type { JobOptions, KeyValueStore, VersionedValue } from "../../core/store.ts";

const queuedPrefix = "run-queued:";
const runningPrefix = "run-running:";

/** How many runs are listed at a time. */
export const markedPage = 1000;

/**
 * Which runs somebody is to work on, and which somebody does: what a queue says too, but a queue may lose it. A run that is in
 * neither list has ended, or was paused, or was never added.
 */
export interface RunMarkers {
  /** Says that somebody is to work on it; answers with what counts: what was said before does where it is sooner, or more urgent. */
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

/** A run that somebody is to work on. */
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
