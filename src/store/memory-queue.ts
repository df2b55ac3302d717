import { KitbagError } from "../core/errors.ts";
import type { Job, Queue } from "../core/queue.ts";
import { checkKey } from "./check-key.ts";
import { checkAdd, checkClaim, checkJob } from "./check-queue.ts";
import { checkWhole } from "./check-whole.ts";
import { createMemoryJobs, type KeptJob, type MemoryJobs } from "./memory-jobs.ts";
import { checkOpen, type StoreLife } from "./store-life.ts";

/** Makes the queues of a memory store. */
export function memoryQueues(life: StoreLife): (name: string) => Queue {
  /** Only queues that have a job. */
  const queues = new Map<string, MemoryJobs>();
  return (name) => createMemoryQueue(life, queues, name);
}

function createMemoryQueue(life: StoreLife, queues: Map<string, MemoryJobs>, name: string): Queue {
  /** The jobs of this queue, once the name and the store are known to be right. */
  function open(operation: string): MemoryJobs {
    checkKey(name);
    checkOpen(life, operation);
    return queues.get(name) ?? createMemoryJobs(life.now);
  }

  /** Changes a job if it is still the one that was claimed. */
  function change(operation: string, given: Job, make: (jobs: MemoryJobs, job: KeptJob) => void): void {
    const { id, attempt } = checkJob(given);
    const jobs = open(operation);
    const job = jobs.get(id);
    if (job?.isClaimed !== true || job.attempt !== attempt) {
      throw new KitbagError("job-lost", { queue: name, job: id, attempt });
    }
    make(jobs, job);
  }

  return {
    async add(id, options) {
      const job = checkAdd(id, options);
      const jobs = open("queue.add");
      queues.set(name, jobs);
      return jobs.add(id, job);
    },
    async claim(options) {
      const { leaseMs, limit } = checkClaim(options);
      return open("queue.claim").claim(leaseMs, limit);
    },
    async extend(given, leaseMs) {
      checkWhole("leaseMs", leaseMs, 1);
      change("queue.extend", given, (jobs, job) => jobs.wait(job, leaseMs));
    },
    async complete(given) {
      change("queue.complete", given, (jobs, job) => {
        jobs.delete(job);
        if (jobs.size === 0) queues.delete(name);
      });
    },
    async release(given, options) {
      const { delayMs } = checkAdd(checkJob(given).id, options);
      change("queue.release", given, (jobs, job) => {
        job.isClaimed = false;
        jobs.wait(job, delayMs);
      });
    },
    async count() {
      return open("queue.count").count();
    },
  };
}
