/** What may be said of a job when it is added. */
export interface JobOptions {
  /** Jobs with a higher number go first, from -1,000,000 to 1,000,000. @default 0 */
  readonly priority?: number;
  /** Nobody gets it before so much time has passed. @default 0 */
  readonly delayMs?: number;
}

/** How jobs are claimed. */
export interface ClaimOptions {
  /** For so long nobody else gets them, unless it is prolonged; at least 1. */
  readonly leaseMs: number;
  /** @default 1 */
  readonly limit?: number;
}

/** A job that somebody has claimed. */
export interface Job {
  readonly id: string;
  /** How often it was claimed, with this time: at least 1. Who holds an older number has lost the job. */
  readonly attempt: number;
}

/** How many jobs a queue has, by what becomes of them next. */
export interface QueueCounts {
  /** Could be claimed now; also those whose lease is over. */
  readonly ready: number;
  readonly delayed: number;
  readonly claimed: number;
}

/**
 * Jobs that wait for somebody to do them. It carries ids only: what is to be done is kept elsewhere, so a job that comes twice
 * does no harm.
 *
 * **Contract**: at least once. A job is handed out again when its lease is over, so each is done as long as somebody claims; who
 * was too slow learns it from `job-lost`. Like every method of a store these never throw, but reject.
 *
 * @throws {KitbagError} `store-key-invalid` for an id or a name that is no key, `option-invalid` for a wrong number.
 */
export interface Queue {
  /**
   * Adds a job. One of this id that waits is brought forward, if this one would come sooner or has a higher priority, and never put
   * back; one that is claimed stays as it is. Answers whether it was added.
   */
  add(id: string, options?: JobOptions): Promise<boolean>;
  /** Takes those that are ready: the highest priority first, among equals in the order in which they could first be claimed. */
  claim(options: ClaimOptions): Promise<readonly Job[]>;
  /**
   * Starts the lease anew.
   *
   * @throws {KitbagError} `job-lost` if the lease was over and somebody else has the job, or it is gone.
   */
  extend(job: Job, leaseMs: number): Promise<void>;
  /**
   * Takes the job out: it is done.
   *
   * @throws {KitbagError} `job-lost`
   */
  complete(job: Job): Promise<void>;
  /**
   * Gives the job back, so that it is claimed again.
   *
   * @throws {KitbagError} `job-lost`
   */
  release(job: Job, options?: Pick<JobOptions, "delayMs">): Promise<void>;
  count(): Promise<QueueCounts>;
}
