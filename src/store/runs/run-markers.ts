import type { KeyValueStore } from "../../core/store.ts";

const queuedPrefix = "run-queued:";
const runningPrefix = "run-running:";

/** How many runs are listed at a time. */
export const markedPage = 1000;

/**
 * Which runs somebody is to work on, and which somebody does: what a queue says too, but a queue may lose it. A run that is in
 * neither list has ended, or was paused, or was never added.
 */
export interface RunMarkers {
  setQueued(runId: string, delayMs: number): Promise<void>;
  isQueued(runId: string): Promise<boolean>;
  setRunning(runId: string): Promise<void>;
  /** Takes it out of the running ones; what was queued in the meantime stays queued. */
  removeRunning(runId: string): Promise<void>;
  /** Takes it out of both. */
  remove(runId: string): Promise<void>;
  listQueued(after: string): Promise<readonly QueuedRun[]>;
  listRunning(after: string): Promise<readonly string[]>;
}

/** A run that somebody is to work on. */
export interface QueuedRun {
  readonly runId: string;
  /** Another number each time that it is queued. */
  readonly version: number;
  /** How long it was to wait when it was queued. */
  readonly delayMs: number;
}

/** Makes the markers of the runs in a store. */
export function createRunMarkers(kv: KeyValueStore): RunMarkers {
  async function list(prefix: string, after: string): Promise<readonly QueuedRun[]> {
    const found = await kv.list({ prefix, after: after === "" ? "" : prefix + after, limit: markedPage });
    return found.map(([key, { value, version }]) => {
      return { runId: key.slice(prefix.length), version, delayMs: Number(value) };
    });
  }

  return {
    async setQueued(runId, delayMs) {
      await kv.set(queuedPrefix + runId, delayMs);
    },
    isQueued: async (runId) => (await kv.get(queuedPrefix + runId)) !== undefined,
    async setRunning(runId) {
      // One after the other: there is no moment in which it is in neither list.
      await kv.set(runningPrefix + runId, 0);
      await kv.delete(queuedPrefix + runId);
    },
    async removeRunning(runId) {
      await kv.delete(runningPrefix + runId);
    },
    async remove(runId) {
      await Promise.all([kv.delete(runningPrefix + runId), kv.delete(queuedPrefix + runId)]);
    },
    listQueued: (after) => list(queuedPrefix, after),
    listRunning: async (after) => (await list(runningPrefix, after)).map(({ runId }) => runId),
  };
}
