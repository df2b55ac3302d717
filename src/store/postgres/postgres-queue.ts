import { KitbagError } from "../../core/errors.ts";
import type { Job, Queue, QueueCounts } from "../../core/queue.ts";
import { checkKey } from "../check-key.ts";
import { checkAdd, checkClaim, checkJob } from "../check-queue.ts";
import { checkWhole } from "../check-whole.ts";
import { checkOpen, type StoreLife } from "../store-life.ts";
import { createPostgresLane, type PostgresLane } from "./postgres-lane.ts";
import type { Row, Statement } from "./postgres-link.ts";
import type { PostgresParts } from "./postgres-parts.ts";
import { queueStatements, type QueueStatements } from "./queue-statements.ts";

interface QueueParts extends PostgresParts {
  readonly lane: PostgresLane;
  readonly sql: QueueStatements;
}

/** Makes the queues of a Postgres store. */
export function postgresQueues(parts: PostgresParts): (name: string) => Queue {
  const lane = createPostgresLane({ link: parts.openLink(), shown: parts.shown });
  parts.onDrain(lane.drain);
  const sql = queueStatements(parts.schema);
  return (name) => createPostgresQueue({ ...parts, lane, sql }, name);
}

function createPostgresQueue({ life, schema, reader, lane, sql }: QueueParts, name: string): Queue {
  /** Writes to one job; whoever adds it at the same time waits. */
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
      return write(id, sql.add(name, id, priority, delayMs), (row) => row?.["is_new"] === true);
    },
    async claim(options) {
      const { leaseMs, limit } = checkClaim(options);
      checkQueue(life, name, "queue.claim");
      return lane.write({
        statement: sql.claim(name, leaseMs, limit),
        lock: undefined,
        read: (rows) => rows.map(toJob),
      });
    },
    async extend(given, leaseMs) {
      checkWhole("leaseMs", leaseMs, 1);
      const job = checkJob(given);
      checkQueue(life, name, "queue.extend");
      return change(job, sql.extend(name, job, leaseMs));
    },
    async complete(given) {
      const job = checkJob(given);
      checkQueue(life, name, "queue.complete");
      return change(job, sql.complete(name, job));
    },
    async release(given, options) {
      const job = checkJob(given);
      const { delayMs } = checkAdd(job.id, options);
      checkQueue(life, name, "queue.release");
      return change(job, sql.release(name, job, delayMs));
    },
    async count() {
      checkQueue(life, name, "queue.count");
      const [row] = await reader.read(sql.count(name));
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
