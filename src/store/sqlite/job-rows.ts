import type { Job, JobOptions, QueueCounts } from "../../core/queue.ts";
import type { SqliteParts } from "./sqlite-parts.ts";

/** What is done with the table of jobs. All but `has…` and `count` run inside of a write. */
export interface JobRows {
  add(queue: number, id: string, options: Required<JobOptions>): boolean;
  isClaimed(queue: number, id: string, attempt: number): boolean;
  /** Lets nobody else have the job for so long. */
  wait(queue: number, id: string, ms: number, isClaimed: boolean): void;
  claim(queue: number, leaseMs: number, limit: number): readonly Job[];
  remove(queue: number, id: string): void;
  /** Marks those that are ready by now. One that was seen to be ready stays so, also if the clock goes back. */
  wake(queue: number): void;
  /** Tells whether one that waits is ready by now. */
  hasDue(queue: number): boolean;
  hasReady(queue: number | undefined): boolean;
  count(queue: number): QueueCounts;
}

/** Makes what works on the table of jobs. */
export function createJobRows({ life, database: { sql }, writer }: SqliteParts): JobRows {
  const hasDue = (queue: number): boolean =>
    sql("SELECT 1 FROM jobs WHERE queue = ? AND is_waiting = 1 AND ready_at <= ? LIMIT 1").get(queue, life.now()) !==
    undefined;
  const wake = (queue: number): void =>
    void sql("UPDATE jobs SET is_waiting = 0 WHERE queue = ? AND is_waiting = 1 AND ready_at <= ?").run(
      queue,
      life.now(),
    );
  /** The first that are ready. */
  const findReady = (queue: number, limit: number): readonly Job[] =>
    sql(
      `SELECT id, attempt FROM jobs WHERE queue = ? AND is_waiting = 0 ORDER BY priority DESC, ready_at, number LIMIT ?`,
    ).all(queue, limit) as unknown as Job[];

  return {
    hasDue,
    wake,
    hasReady: (queue) => queue !== undefined && (hasDue(queue) || findReady(queue, 1).length > 0),
    add(queue, id, { priority, delayMs }) {
      if (sql("SELECT 1 FROM jobs WHERE queue = ? AND id = ?").get(queue, id)) return false;
      sql("INSERT INTO jobs VALUES (?, ?, ?, ?, 0, ?, 0, ?)").run(
        queue,
        id,
        priority,
        writer.nextNumber(),
        toTime(life.now() + delayMs),
        delayMs > 0 ? 1 : 0,
      );
      return true;
    },
    isClaimed(queue, id, attempt) {
      const row = sql("SELECT 1 FROM jobs WHERE queue = ? AND id = ? AND is_claimed = 1 AND attempt = ?");
      return row.get(queue, id, attempt) !== undefined;
    },
    wait(queue, id, ms, isClaimed) {
      sql("UPDATE jobs SET number = ?, ready_at = ?, is_claimed = ?, is_waiting = ? WHERE queue = ? AND id = ?").run(
        writer.nextNumber(),
        toTime(life.now() + ms),
        isClaimed ? 1 : 0,
        ms > 0 ? 1 : 0,
        queue,
        id,
      );
    },
    claim(queue, leaseMs, limit) {
      wake(queue);
      const update = sql(
        `UPDATE jobs SET number = ?, ready_at = ?, is_claimed = 1, is_waiting = 1, attempt = attempt + 1
         WHERE queue = ? AND id = ?`,
      );
      return findReady(queue, limit).map(({ id, attempt }) => {
        update.run(writer.nextNumber(), toTime(life.now() + leaseMs), queue, id);
        return { id, attempt: attempt + 1 };
      });
    },
    remove: (queue, id) => void sql("DELETE FROM jobs WHERE queue = ? AND id = ?").run(queue, id),
    count(queue) {
      const rows = sql(
        "SELECT is_waiting, is_claimed, count(*) AS count FROM jobs WHERE queue = ? GROUP BY is_waiting, is_claimed",
      ).all(queue) as unknown as { is_waiting: number; is_claimed: number; count: number }[];
      const counts = { ready: 0, delayed: 0, claimed: 0 };
      for (const row of rows) {
        counts[row.is_waiting === 0 ? "ready" : row.is_claimed === 1 ? "claimed" : "delayed"] += row.count;
      }
      return counts;
    },
  };
}

/** What SQLite gives back must be a whole number that is safe. */
function toTime(time: number): number {
  return Math.min(time, Number.MAX_SAFE_INTEGER);
}
