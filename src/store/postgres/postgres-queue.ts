import { KitbagError } from "../../core/errors.ts";
import type { Job, Queue, QueueCounts } from "../../core/store.ts";
import { checkAdd, checkClaim, checkJob, checkKey, checkWhole } from "../checks.ts";
import { checkOpen, type StoreLife } from "../store-life.ts";
import { createPostgresLane, type PostgresLane } from "./postgres-lane.ts";
import { createStatements, type Row, type Statement } from "./postgres-link.ts";
import type { PostgresParts } from "./postgres-reader.ts";

interface QueueParts extends PostgresParts {
  readonly lane: PostgresLane;
  readonly sql: ReturnType<typeof queueStatements>;
}

/** Makes the queues of a Postgres store. */
export function postgresQueues(parts: PostgresParts): (name: string) => Queue {
  const lane = createPostgresLane({ link: parts.openLink(), shown: parts.shown });
  parts.onDrain(lane.drain);
  const sql = queueStatements(parts.schema);
  return (name) => createPostgresQueue({ ...parts, lane, sql }, name);
}

function createPostgresQueue({ life, schema, reader, lane, sql }: QueueParts, name: string): Queue {
  /** Writes to one job; a concurrent `add` of the same job waits. */
  function write<Answer>(id: string, statement: Statement, read: (row: Row | undefined) => Answer): Promise<Answer> {
    return lane.write({ statement, lock: `${schema}/job/${name}\n${id}`, read: ([row]) => read(row) });
  }

  /** Changes a job if it is still the one that was claimed. */
  function change({ id, attempt }: Job, statement: Statement): Promise<void> {
    return write(id, statement, (row) => {
      if (!row) throw new KitbagError("job-lost", { queue: name, job: id, attempt });
    });
  }

  return {
    async add(id, options) {
      const { priority, delayMs } = checkAdd(id, options);
      checkQueue(life, name, "queue.add");
      return write(id, sql("add", name, id, priority, delayMs), (row) => row?.["is_new"] === true);
    },
    async claim(options) {
      const { leaseMs, limit } = checkClaim(options);
      checkQueue(life, name, "queue.claim");
      return lane.write({
        statement: sql("claim", name, leaseMs, limit),
        lock: undefined,
        read: (rows) => rows.map(toJob),
      });
    },
    async extend(given, leaseMs) {
      checkWhole("leaseMs", leaseMs, 1);
      const job = checkJob(given);
      checkQueue(life, name, "queue.extend");
      return change(job, sql("extend", name, job.id, job.attempt, leaseMs));
    },
    async complete(given) {
      const job = checkJob(given);
      checkQueue(life, name, "queue.complete");
      return change(job, sql("complete", name, job.id, job.attempt));
    },
    async release(given, options) {
      const job = checkJob(given);
      const { delayMs } = checkAdd(job.id, options);
      checkQueue(life, name, "queue.release");
      return change(job, sql("release", name, job.id, job.attempt, delayMs));
    },
    async count() {
      checkQueue(life, name, "queue.count");
      const [row] = await reader.read(sql("count", name));
      return toCounts(row);
    },
  };
}

function checkQueue(life: StoreLife, name: string, operation: string): void {
  checkKey(name);
  checkOpen(life, operation);
}

function toJob(row: Row): Job {
  return { id: String(row["id"]), attempt: Number(row["attempt"]) };
}

function toCounts(row: Row | undefined): QueueCounts {
  return { ready: Number(row?.["ready"]), delayed: Number(row?.["delayed"]), claimed: Number(row?.["claimed"]) };
}

/** The clock of the server when the statement began, so that an index on times can be used. */
const nowMs = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/** Makes the statements for the tables of `schema`. */
function queueStatements(schema: string) {
  const place = `nextval('${schema}.job_order')`;
  const isTheirs = "queue = $1 AND id = $2 AND attempt = $3 AND claimed";
  return createStatements("queue", {
    // `xmax` is 0 only for an inserted row, not for an updated one.
    add: `INSERT INTO ${schema}.jobs AS job (queue, id, priority, ready_at, place, attempt, claimed)
      VALUES ($1, $2, $3, ${nowMs} + $4::bigint, ${place}, 0, false) ON CONFLICT (queue, id) DO UPDATE
      SET priority = greatest(job.priority, excluded.priority), ready_at = least(job.ready_at, excluded.ready_at)
      WHERE NOT job.claimed AND (job.priority < excluded.priority OR job.ready_at > excluded.ready_at)
      RETURNING job.xmax = 0 AS is_new`,
    // Concurrent claims skip the rows that are locked here, and do not wait.
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
  });
}
