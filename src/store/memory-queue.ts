import { KitbagError } from "../core/errors.ts";
import type { Job, Queue } from "../core/queue.ts";
import { checkKey } from "./check-key.ts";
import { checkAdd, checkClaim, checkJob } from "./check-queue.ts";
import { checkWhole } from "./check-whole.ts";
import { checkOpen, type MemoryLife } from "./memory-life.ts";

interface KeptJob {
  readonly id: string;
  readonly priority: number;
  /** Breaks ties: the number of the write that made it ready. */
  order: number;
  attempt: number;
  /** By the clock of the store: when it may be claimed. */
  readyAt: number;
  isClaimed: boolean;
}

/** Makes the queues of a memory store. */
export function memoryQueues(life: MemoryLife): (name: string) => Queue {
  const queues = new Map<string, Map<string, KeptJob>>();
  let order = 0;

  return (name) => {
    const jobs = (): Map<string, KeptJob> => {
      checkKey(name);
      const found = queues.get(name) ?? new Map<string, KeptJob>();
      queues.set(name, found);
      return found;
    };

    /** The job, if it is still the one that was claimed. */
    function find(operation: string, given: Job): KeptJob {
      const { id, attempt } = checkJob(given);
      checkOpen(life, operation);
      const job = jobs().get(id);
      if (job?.isClaimed === true && job.attempt === attempt) return job;
      throw new KitbagError("job-lost", { queue: name, job: id, attempt });
    }

    return {
      async add(id, options) {
        const { priority, delayMs } = checkAdd(id, options);
        checkOpen(life, "queue.add");
        if (jobs().has(id)) return false;
        order += 1;
        jobs().set(id, { id, priority, order, attempt: 0, readyAt: life.now() + delayMs, isClaimed: false });
        return true;
      },
      async claim(options) {
        const { leaseMs, limit } = checkClaim(options);
        checkOpen(life, "queue.claim");
        const now = life.now();
        const ready = [...jobs().values()].filter(({ readyAt }) => readyAt <= now).toSorted(compareJobs);
        return ready.slice(0, limit).map((job) => {
          Object.assign(job, { isClaimed: true, attempt: job.attempt + 1, readyAt: now + leaseMs });
          return { id: job.id, attempt: job.attempt };
        });
      },
      async extend(given, leaseMs) {
        checkWhole("leaseMs", leaseMs, 1);
        const job = find("queue.extend", given);
        job.readyAt = life.now() + leaseMs;
      },
      async complete(given) {
        const { id } = find("queue.complete", given);
        jobs().delete(id);
      },
      async release(given, options) {
        const { delayMs } = checkAdd(given?.id, options);
        const job = find("queue.release", given);
        order += 1;
        Object.assign(job, { isClaimed: false, order, readyAt: life.now() + delayMs });
      },
      async count() {
        const all = jobs();
        checkOpen(life, "queue.count");
        const now = life.now();
        const later = [...all.values()].filter(({ readyAt }) => readyAt > now);
        const claimed = later.filter(({ isClaimed }) => isClaimed).length;
        return { ready: all.size - later.length, delayed: later.length - claimed, claimed };
      },
    };
  };
}

function compareJobs(left: KeptJob, right: KeptJob): number {
  return right.priority - left.priority || left.readyAt - right.readyAt || left.order - right.order;
}
