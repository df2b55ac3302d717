import type { Job } from "../../core/queue.ts";
import type { Statement } from "./postgres-link.ts";

/** The clock of the server when the statement began, so that an index on times can be used. */
const nowMs = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/** What queues ask of the server. */
export interface QueueStatements {
  add(queue: string, id: string, priority: number, delayMs: number): Statement;
  claim(queue: string, leaseMs: number, limit: number): Statement;
  extend(queue: string, job: Job, leaseMs: number): Statement;
  complete(queue: string, job: Job): Statement;
  release(queue: string, job: Job, delayMs: number): Statement;
  count(queue: string): Statement;
}

/** Makes the statements for the tables of `schema`. */
export function queueStatements(schema: string): QueueStatements {
  const place = `nextval('${schema}.job_order')`;
  const isTheirs = "queue = $1 AND id = $2 AND attempt = $3 AND claimed";
  const texts = {
    // What is new has not been written over by anybody.
    add: `INSERT INTO ${schema}.jobs AS job (queue, id, priority, ready_at, place, attempt, claimed)
      VALUES ($1, $2, $3, ${nowMs} + $4::bigint, ${place}, 0, false) ON CONFLICT (queue, id) DO UPDATE
      SET priority = greatest(job.priority, excluded.priority), ready_at = least(job.ready_at, excluded.ready_at)
      WHERE NOT job.claimed AND (job.priority < excluded.priority OR job.ready_at > excluded.ready_at)
      RETURNING job.xmax = 0 AS is_new`,
    // Whoever claims at the same time steps over what is locked here, and waits for nobody.
    claim: `WITH ready AS MATERIALIZED (
        SELECT id, priority, ready_at, place FROM ${schema}.jobs WHERE queue = $1 AND ready_at <= ${nowMs}
        ORDER BY priority DESC, ready_at, place LIMIT $3 FOR UPDATE SKIP LOCKED),
      taken AS (
        UPDATE ${schema}.jobs AS job
        SET claimed = true, attempt = job.attempt + 1, ready_at = ${nowMs} + $2::bigint, place = ${place}
        FROM ready WHERE job.queue = $1 AND job.id = ready.id
        RETURNING job.id, job.attempt, ready.priority, ready.ready_at, ready.place)
      SELECT id, attempt FROM taken ORDER BY priority DESC, ready_at, place`,
    extend: `UPDATE ${schema}.jobs SET ready_at = ${nowMs} + $4::bigint, place = ${place} WHERE ${isTheirs} RETURNING id`,
    complete: `DELETE FROM ${schema}.jobs WHERE ${isTheirs} RETURNING id`,
    release: `UPDATE ${schema}.jobs SET claimed = false, ready_at = ${nowMs} + $4::bigint, place = ${place}
      WHERE ${isTheirs} RETURNING id`,
    count: `SELECT count(*) FILTER (WHERE ready_at <= ${nowMs}) AS ready,
        count(*) FILTER (WHERE ready_at > ${nowMs} AND NOT claimed) AS delayed,
        count(*) FILTER (WHERE ready_at > ${nowMs} AND claimed) AS claimed
      FROM ${schema}.jobs WHERE queue = $1`,
  };

  return {
    add: (queue, id, priority, delayMs) => ({ name: "add", text: texts.add, values: [queue, id, priority, delayMs] }),
    claim: (queue, leaseMs, limit) => ({ name: "claim", text: texts.claim, values: [queue, leaseMs, limit] }),
    extend: (queue, { id, attempt }, leaseMs) => ({
      name: "extend",
      text: texts.extend,
      values: [queue, id, attempt, leaseMs],
    }),
    complete: (queue, { id, attempt }) => ({ name: "complete", text: texts.complete, values: [queue, id, attempt] }),
    release: (queue, { id, attempt }, delayMs) => ({
      name: "release",
      text: texts.release,
      values: [queue, id, attempt, delayMs],
    }),
    count: (queue) => ({ name: "count", text: texts.count, values: [queue] }),
  };
}
