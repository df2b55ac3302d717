import type { Job, JobOptions, QueueCounts } from "../../core/store.ts";
import type { SqliteParts } from "./sqlite-parts.ts";

/** What is done with the table of jobs, by the number of a queue; one that does not exist has no jobs. */
export interface JobRows extends JobChanges, JobReads {}

/** All of these run inside of a write. */
interface JobChanges {
  /** Adds a job, or moves a waiting job forward; answers whether it is new. */
  add(queue: number, id: string, options: Required<JobOptions>): boolean;
  /** Makes the job unavailable to other workers for `ms`. */
  wait(queue: number, id: string, options: { readonly ms: number; readonly isClaimed: boolean }): void;
  claim(queue: number, leaseMs: number, limit: number): readonly Job[];
  remove(queue: number, id: string): void;
  /** Marks the jobs that are ready by now. A job that was marked stays ready, also if the clock is set back. */
  wake(queue: number | undefined): void;
}

interface JobReads {
  isClaimed(queue: number, id: string, attempt: number): boolean;
  /** Tells whether one that waits is ready by now. */
  hasDue(queue: number | undefined): boolean;
  hasReady(queue: number | undefined): boolean;
  /** The first that were seen to be ready. */
  findReady(queue: number, limit: number): readonly Job[];
  count(queue: number | undefined): QueueCounts;
}

/** Makes the access to the table of jobs. */
export function createJobRows(parts: SqliteParts): JobRows {
  const reads = createJobReads(parts);
  return { ...reads, ...createJobChanges(parts, reads) };
}

function createJobChanges({ life, database: { sql }, writer }: SqliteParts, { findReady }: JobReads): JobChanges {
  /** Capped, because SQLite may only answer with safe integers. */
  const after = (ms: number): number => Math.min(life.now() + ms, Number.MAX_SAFE_INTEGER);

  function wake(queue: number | undefined): void {
    const due = "queue = ? AND is_waiting = 1 AND ready_at <= ?";
    sql(`UPDATE jobs SET is_waiting = 0 WHERE ${due}`).run(queue ?? null, life.now());
  }

  function bringForward(queue: number, id: string, job: { readonly priority: number; readonly readyAt: number }): void {
    const { priority, readyAt } = job;
    // One that was seen to be ready stays so.
    const values = "priority = max(priority, ?), ready_at = iif(is_waiting, min(ready_at, ?), ready_at)";
    const isBetter = "(priority < ? OR is_waiting = 1 AND ready_at > ?)";
    const update = sql(`UPDATE jobs SET ${values} WHERE queue = ? AND id = ? AND is_claimed = 0 AND ${isBetter}`);
    update.run(priority, readyAt, queue, id, priority, readyAt);
  }

  return {
    wake,
    add(queue, id, { priority, delayMs }) {
      const insert = sql("INSERT INTO jobs VALUES (?, ?, ?, ?, 0, ?, 0, ?) ON CONFLICT DO NOTHING");
      const isWaiting = delayMs > 0 ? 1 : 0;
      const readyAt = after(delayMs);
      if (insert.run(queue, id, priority, writer.nextNumber(), readyAt, isWaiting).changes !== 0) return true;
      bringForward(queue, id, { priority, readyAt });
      return false;
    },
    wait(queue, id, { ms, isClaimed }) {
      const values = "number = ?, ready_at = ?, is_claimed = ?, is_waiting = ?";
      const update = sql(`UPDATE jobs SET ${values} WHERE queue = ? AND id = ?`);
      update.run(writer.nextNumber(), after(ms), isClaimed ? 1 : 0, ms > 0 ? 1 : 0, queue, id);
    },
    claim(queue, leaseMs, limit) {
      wake(queue);
      const values = "number = ?, ready_at = ?, is_claimed = 1, is_waiting = 1, attempt = attempt + 1";
      const update = sql(`UPDATE jobs SET ${values} WHERE queue = ? AND id = ?`);
      return findReady(queue, limit).map(({ id, attempt }) => {
        update.run(writer.nextNumber(), after(leaseMs), queue, id);
        return { id, attempt: attempt + 1 };
      });
    },
    remove(queue, id) {
      sql("DELETE FROM jobs WHERE queue = ? AND id = ?").run(queue, id);
    },
  };
}

function createJobReads({ life, database: { sql } }: SqliteParts): JobReads {
  function hasDue(queue: number | undefined): boolean {
    const due = sql("SELECT 1 FROM jobs WHERE queue = ? AND is_waiting = 1 AND ready_at <= ? LIMIT 1");
    return due.get(queue ?? null, life.now()) !== undefined;
  }

  function findReady(queue: number, limit: number): readonly Job[] {
    const order = "ORDER BY priority DESC, ready_at, number";
    const ready = sql(`SELECT id, attempt FROM jobs WHERE queue = ? AND is_waiting = 0 ${order} LIMIT ?`);
    return ready.all(queue, limit) as unknown as Job[];
  }

  return {
    hasDue,
    findReady,
    hasReady: (queue) => queue !== undefined && (hasDue(queue) || findReady(queue, 1).length > 0),
    isClaimed(queue, id, attempt) {
      const claimed = sql("SELECT 1 FROM jobs WHERE queue = ? AND id = ? AND is_claimed = 1 AND attempt = ?");
      return claimed.get(queue, id, attempt) !== undefined;
    },
    count(queue) {
      const row = sql(
        `SELECT count(*) FILTER (WHERE is_waiting = 0) AS ready,
           count(*) FILTER (WHERE is_waiting = 1 AND is_claimed = 0) AS delayed,
           count(*) FILTER (WHERE is_waiting = 1 AND is_claimed = 1) AS claimed
         FROM jobs WHERE queue = ?`,
      ).get(queue ?? null) as unknown as QueueCounts;
      return { ready: row.ready, delayed: row.delayed, claimed: row.claimed };
    },
  };
}
