/** One way to do the thing that a question is about. */
export interface Contender {
  readonly name: string;
  /** Does it, and answers with what it cost, in the question's unit. Called once a round. */
  measure(): number | Promise<number>;
}

/** What a contender cost in one round. */
export type Cost = (contender: string) => number;

/** What a question must come to. */
export interface Target {
  readonly text: string;
  readonly unit: string;
  /** The most it may be. */
  readonly limit: number;
  /** Computes it for one round, from what each contender cost in it; the median of all rounds counts. */
  value(cost: Cost): number;
}

/** One file of this folder: what to measure, against what, and what it must come to. */
export interface Question {
  readonly title: string;
  /** What exactly is measured, for a reader of the table. */
  readonly text: string;
  readonly unit: string;
  readonly rounds: number;
  readonly targets: readonly Target[];
  /** Prepares everything that is not to be measured. */
  contenders(): Promise<readonly Contender[]>;
}

/**
 * The CPU time that `work` took, in microseconds, of all threads of this process: the collection of its garbage is in it. None is
 * forced before: a full collection between rounds makes V8 throw away the code it has optimised (864 times instead of 18 in one
 * run of `call.ts`, at nearly twice the cost of a call), which no program does to itself.
 */
export async function cpuMicroseconds(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
