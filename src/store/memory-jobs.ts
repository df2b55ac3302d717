import { createHeap } from "../core/heap.ts";
import type { Job, JobOptions, QueueCounts } from "../core/store.ts";

/** A job as {@link memoryQueues} keeps it. Only its {@link MemoryJobs} changes its times. */
export interface KeptJob {
  readonly id: string;
  priority: number;
  /** Breaks ties: the number of the write that says when it is ready. */
  order: number;
  attempt: number;
  /** By the clock of the store: when the job may be claimed; for a claimed job, when another worker may claim it. */
  readyAt: number;
  isClaimed: boolean;
}

/** The jobs of one queue. */
export interface MemoryJobs {
  readonly size: number;
  get(id: string): KeptJob | undefined;
  /** Makes the job unavailable to workers until `ms` have passed. */
  wait(job: KeptJob, ms: number): void;
  /** Adds a job, or moves a waiting job forward; answers whether it is new. */
  add(id: string, options: Required<JobOptions>): boolean;
  claim(leaseMs: number, limit: number): Job[];
  delete(job: KeptJob): void;
  count(): QueueCounts;
}

/** Makes an empty queue. What it does takes time in proportion to the logarithm of its size. */
export function createMemoryJobs(now: () => number): MemoryJobs {
  const jobs = new Map<string, KeptJob>();
  const line = createLine();
  let order = 0;

  function wait(job: KeptJob, ms: number): void {
    line.remove(job);
    order += 1;
    job.order = order;
    job.readyAt = now() + ms;
    jobs.set(job.id, job);
    line.add(job);
  }

  return {
    get size() {
      return jobs.size;
    },
    get: (id) => jobs.get(id),
    wait,
    add(id, { priority, delayMs }) {
      const known = jobs.get(id);
      if (!known) wait({ id, priority, order: 0, attempt: 0, readyAt: 0, isClaimed: false }, delayMs);
      else if (!known.isClaimed) {
        line.change(known, () => {
          known.priority = Math.max(known.priority, priority);
          known.readyAt = Math.min(known.readyAt, now() + delayMs);
        });
      }
      return !known;
    },
    claim(leaseMs, limit) {
      line.wake(now());
      const taken: Job[] = [];
      for (let job = line.first(); job && taken.length < limit; job = line.first()) {
        job.isClaimed = true;
        job.attempt += 1;
        wait(job, leaseMs);
        taken.push({ id: job.id, attempt: job.attempt });
      }
      return taken;
    },
    delete(job) {
      line.remove(job);
      jobs.delete(job.id);
    },
    count() {
      line.wake(now());
      return line.count();
    },
  };
}

/** The jobs, ordered by what happens to them next. */
interface Line {
  /** Adds a job that may not be claimed before its `readyAt`. */
  add(job: KeptJob): void;
  remove(job: KeptJob): void;
  /** Changes what decides when a job is next; it stays among those that are ready, or those that are not. */
  change(job: KeptJob, make: () => void): void;
  /** Finds out who is ready at `time`. One that was seen to be ready stays so, also if the clock goes back. */
  wake(time: number): void;
  /** The next one of those that are ready. */
  first(): KeptJob | undefined;
  count(): QueueCounts;
}

function createLine(): Line {
  const ready = createHeap<KeptJob>((left, right) => right.priority - left.priority || compareTimes(left, right));
  const delayed = createHeap<KeptJob>(compareTimes);
  const claimed = createHeap<KeptJob>(compareTimes);

  return {
    add(job) {
      (job.isClaimed ? claimed : delayed).add(job);
    },
    remove(job) {
      for (const heap of [ready, delayed, claimed]) heap.remove(job);
    },
    change(job, make) {
      const heap = [ready, delayed, claimed].find((one) => one.has(job));
      heap?.remove(job);
      make();
      heap?.add(job);
    },
    wake(time) {
      for (const heap of [delayed, claimed]) {
        for (let job = heap.first(); job && job.readyAt <= time; job = heap.first()) {
          heap.remove(job);
          ready.add(job);
        }
      }
    },
    first: ready.first,
    count: () => ({ ready: ready.size, delayed: delayed.size, claimed: claimed.size }),
  };
}

function compareTimes(left: KeptJob, right: KeptJob): number {
  return left.readyAt - right.readyAt || left.order - right.order;
}
