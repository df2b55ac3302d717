import { KitbagError } from "../../core/errors.ts";
import type { Job, Queue } from "../../core/queue.ts";
import { checkKey } from "../check-key.ts";
import { checkAdd, checkClaim, checkJob } from "../check-queue.ts";
import { checkWhole } from "../check-whole.ts";
import { checkOpen } from "../store-life.ts";
import { createJobRows, type JobRows } from "./job-rows.ts";
import { createNameIds, type NameIds } from "./name-ids.ts";
import { read, type SqliteParts } from "./sqlite-parts.ts";

interface QueuePlace {
  readonly parts: SqliteParts;
  readonly ids: NameIds;
  readonly rows: JobRows;
}

/** Makes the queues of an SQLite store. */
export function sqliteQueues(parts: SqliteParts): (name: string) => Queue {
  const place = { parts, ids: createNameIds(parts.database, "queues"), rows: createJobRows(parts) };
  return (name) => sqliteQueue(place, name);
}

function sqliteQueue({ parts, ids, rows }: QueuePlace, name: string): Queue {
  const { life, writer } = parts;
  const scope = `queue:${String(name)}`;

  function check(operation: string): void {
    checkKey(name);
    checkOpen(life, operation);
  }

  /** Looking costs less than writing, and most who look find nothing. */
  async function isEmpty(): Promise<boolean> {
    if (writer.whenWritten(scope)) return false;
    return read(parts, "queue.claim", () => !rows.hasReady(ids.find(name)), scope);
  }

  /** Changes a job if it is still the one that was claimed. */
  async function change(operation: string, given: Job, make: (queue: number, id: string) => void): Promise<void> {
    const { id, attempt } = checkJob(given);
    check(operation);
    await writer.write(scope, () => {
      const queue = ids.find(name);
      if (queue !== undefined && rows.isClaimed(queue, id, attempt)) return make(queue, id);
      throw new KitbagError("job-lost", { queue: name, job: id, attempt });
    });
  }

  return {
    async add(id, options) {
      const checked = checkAdd(id, options);
      check("queue.add");
      return writer.write(scope, () => rows.add(ids.make(name), id, checked));
    },
    async claim(options) {
      const { leaseMs, limit } = checkClaim(options);
      check("queue.claim");
      if (await isEmpty()) return [];
      return writer.write(scope, () => rows.claim(ids.make(name), leaseMs, limit));
    },
    async extend(given, leaseMs) {
      checkWhole("leaseMs", leaseMs, 1);
      await change("queue.extend", given, (queue, id) => rows.wait(queue, id, { ms: leaseMs, isClaimed: true }));
    },
    complete: (given) => change("queue.complete", given, rows.remove),
    async release(given, options) {
      const { delayMs } = checkAdd(checkJob(given).id, options);
      await change("queue.release", given, (queue, id) => rows.wait(queue, id, { ms: delayMs, isClaimed: false }));
    },
    async count() {
      check("queue.count");
      const isDue = await read(parts, "queue.count", () => rows.hasDue(ids.find(name)), scope);
      if (isDue) await writer.write(scope, () => rows.wake(ids.find(name))).catch(() => undefined);
      return read(parts, "queue.count", () => rows.count(ids.find(name)), scope);
    },
  };
}
