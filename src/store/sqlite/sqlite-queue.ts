import { KitbagError } from "../../core/errors.ts";
import type { Job, Queue } from "../../core/queue.ts";
import { checkKey } from "../check-key.ts";
import { checkAdd, checkClaim, checkJob } from "../check-queue.ts";
import { checkWhole } from "../check-whole.ts";
import { checkOpen } from "../store-life.ts";
import { createJobRows } from "./job-rows.ts";
import { createNameIds } from "./name-ids.ts";
import { read, type SqliteParts } from "./sqlite-parts.ts";

/** Makes the queues of an SQLite store. */
export function sqliteQueues(parts: SqliteParts): (name: string) => Queue {
  const { life, writer, database } = parts;
  const ids = createNameIds(database, "queues");
  const rows = createJobRows(parts);

  return (name) => {
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
        await change("queue.extend", given, (queue, id) => rows.wait(queue, id, leaseMs, true));
      },
      complete: (given) => change("queue.complete", given, rows.remove),
      async release(given, options) {
        const { delayMs } = checkAdd(checkJob(given).id, options);
        await change("queue.release", given, (queue, id) => rows.wait(queue, id, delayMs, false));
      },
      async count() {
        check("queue.count");
        const queue = await read(parts, "queue.count", () => ids.find(name), scope);
        if (queue === undefined) return { ready: 0, delayed: 0, claimed: 0 };
        if (await read(parts, "queue.count", () => rows.hasDue(queue)))
          await writer.write(scope, () => rows.wake(queue));
        return read(parts, "queue.count", () => rows.count(queue));
      },
    };
  };
}
