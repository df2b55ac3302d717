import type { KeyValueStore } from "../../core/store.ts";

const queuedPrefix = "run-queued:";
const runningPrefix = "run-running:";

/**
 * Which runs somebody is to work on, and which somebody does: what a queue says too, but a queue may lose it. A run that is in
 * neither list has ended, or was paused, or was never added.
 */
export interface RunMarkers {
  setQueued(runId: string): Promise<void>;
  isQueued(runId: string): Promise<boolean>;
  setRunning(runId: string): Promise<void>;
  /** Takes it out of the running ones; what was queued in the meantime stays queued. */
  removeRunning(runId: string): Promise<void>;
  /** Takes it out of both. */
  remove(runId: string): Promise<void>;
  listQueued(after: string): Promise<readonly string[]>;
  listRunning(after: string): Promise<readonly string[]>;
}

/** Makes the markers of the runs in a store. */
export function createRunMarkers(kv: KeyValueStore): RunMarkers {
  async function list(prefix: string, after: string): Promise<readonly string[]> {
    const found = await kv.list({ prefix, after: after === "" ? "" : prefix + after });
    return found.map(([key]) => key.slice(prefix.length));
  }

  return {
    async setQueued(runId) {
      await kv.set(queuedPrefix + runId, true);
    },
    isQueued: async (runId) => (await kv.get(queuedPrefix + runId)) !== undefined,
    async setRunning(runId) {
      // One after the other: there is no moment in which it is in neither list.
      await kv.set(runningPrefix + runId, true);
      await kv.delete(queuedPrefix + runId);
    },
    async removeRunning(runId) {
      await kv.delete(runningPrefix + runId);
    },
    async remove(runId) {
      await Promise.all([kv.delete(runningPrefix + runId), kv.delete(queuedPrefix + runId)]);
    },
    listQueued: (after) => list(queuedPrefix, after),
    listRunning: (after) => list(runningPrefix, after),
  };
}
