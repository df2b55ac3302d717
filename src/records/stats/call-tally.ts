import type { CallFigures, CallStats, TimeStats, TimeStep } from "./call-stats.ts";

/** How many buckets there are for each doubling: a quantile is off by less than 2.2 %. */
const perDoubling = 16;
/** The upper end of the first bucket, in milliseconds: about a microsecond. */
const smallest = 2 ** -10;
/** Longer times count as this long: four and a half hours. */
const largest = 2 ** 24;
const bucketCount = Math.log2(largest / smallest) * perDoubling + 1;

/** How long things took, in a fixed number of buckets: it takes 2 KB, however much is counted. */
export class Histogram {
  count = 0;
  sumMs = 0;
  maxMs = 0;
  readonly #buckets = new Uint32Array(bucketCount);

  /** Counts one time. What is no time, as a clock that was set back makes it, counts as 0. */
  add(durationMs: number): void {
    const clean = durationMs > 0 ? Math.min(durationMs, largest) : 0;
    const index = clean <= smallest ? 0 : Math.ceil(Math.log2(clean / smallest) * perDoubling);
    this.#buckets[index] = (this.#buckets[index] as number) + 1;
    this.count += 1;
    this.sumMs += clean;
    if (clean > this.maxMs) this.maxMs = clean;
  }

  /** The time that a part of all, from 0 to 1, did not exceed; 0 if nothing was counted. */
  quantile(part: number): number {
    const rank = Math.max(1, Math.ceil(part * this.count));
    if (rank >= this.count) return this.maxMs;
    let seen = 0;
    for (const [index, inside] of this.#buckets.entries()) {
      seen += inside;
      // The middle of the bucket, but no more than there really was.
      if (seen >= rank) return Math.min(this.maxMs, smallest * 2 ** ((index - 0.5) / perDoubling));
    }
    return this.maxMs;
  }

  /** How many times did not exceed each of {@link stepsMs}. They are ends of buckets, so the counts are exact. */
  toSteps(): readonly TimeStep[] {
    let [index, count] = [0, 0];
    return stepsMs.map((ms) => {
      const end = Math.log2(ms / smallest) * perDoubling;
      for (; index <= end; index += 1) count += this.#buckets[index] as number;
      return { ms, count };
    });
  }
}

/** From a millisecond to more than four minutes, each four times the one before. */
const stepsMs = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144] as const;

/** The counted facts of a finished call. */
export interface CountedCall {
  /** The address; none for a call of what is no tool. */
  readonly tool: string | undefined;
  /** The skill or component it belongs to. */
  readonly owner: string | undefined;
  readonly durationMs: number;
  readonly queuedMs: number;
  readonly costUsd: number;
  /** The code of the error, if it failed. */
  readonly code: string | undefined;
  readonly recalled: boolean;
  /** Counted by user only if it is there. */
  readonly user?: string | undefined;
  /** The slice of the time that it belongs to, if there are any. */
  readonly slice?: number;
}

/** Counts calls, in all, by tool and by owner. What it takes is bounded, whatever is counted. */
export interface CallTally {
  add(call: CountedCall): void;
  /** What was counted so far. */
  toStats(since: number, until: number, options?: TallyOptions): CallStats;
}

/** What else is said of what was counted. */
export interface TallyOptions {
  /** With the `steps` of all times. @default false */
  readonly steps?: boolean;
}

/** More tools, or owners, are counted together. */
const mostRows = 1000;
/** More different errors of one row are counted together. */
const mostCodes = 50;
const others = "(others)";
const unknown = "(unknown)";

/** Makes a tally with nothing in it; with `slices`, it also counts calls in each slice of the time. */
export function createCallTally(slices = 0): CallTally {
  const total = new Row(slices);
  const tools = new Map<string, Row>();
  const owners = new Map<string, Row>();
  const users = new Map<string, Row>();

  function rowOf(rows: Map<string, Row>, name: string): Row {
    const found = rows.get(name);
    if (found !== undefined) return found;
    if (rows.size >= mostRows && name !== others) return rowOf(rows, others);
    const row = new Row(slices);
    rows.set(name, row);
    return row;
  }

  return {
    add(call) {
      const { tool = unknown, owner, user } = call;
      total.add(call);
      rowOf(tools, tool).add(call);
      if (owner !== undefined) rowOf(owners, owner).add(call);
      if (user !== undefined) rowOf(users, user).add(call);
    },
    toStats: (since, until, options = {}) => ({
      since,
      until,
      total: total.toFigures(options),
      tools: toList(tools, options, (tool, figures) => ({ tool, ...figures })),
      owners: toList(owners, options, (owner, figures) => ({ owner, ...figures })),
      ...(users.size > 0 && { users: toList(users, options, (user, figures) => ({ user, ...figures })) }),
    }),
  };
}

function toList<Stats extends CallFigures>(
  rows: ReadonlyMap<string, Row>,
  options: TallyOptions,
  toStats: (name: string, figures: CallFigures) => Stats,
): Stats[] {
  const list = [...rows].map(([name, row]) => toStats(name, row.toFigures(options)));
  return list.toSorted((left, right) => right.calls - left.calls);
}

/** The calls of one tool, or of one owner, or all. */
class Row {
  #errors = 0;
  #recalled = 0;
  #costUsd = 0;
  readonly #codes = new Map<string, number>();
  readonly #time = new Histogram();
  /** Most calls never wait. */
  #queue: Histogram | undefined;
  readonly #slices: Uint32Array | undefined;

  constructor(slices: number) {
    if (slices > 0) this.#slices = new Uint32Array(slices);
  }

  add({ durationMs, queuedMs, costUsd, code, recalled, slice }: CountedCall): void {
    this.#costUsd += costUsd;
    this.#time.add(durationMs);
    if (queuedMs > 0) (this.#queue ??= new Histogram()).add(queuedMs);
    if (recalled) this.#recalled += 1;
    if (code !== undefined) this.#addCode(code);
    if (this.#slices !== undefined && slice !== undefined) this.#slices[slice] = (this.#slices[slice] ?? 0) + 1;
  }

  #addCode(code: string): void {
    this.#errors += 1;
    const name = this.#codes.has(code) || this.#codes.size < mostCodes ? code : others;
    this.#codes.set(name, (this.#codes.get(name) ?? 0) + 1);
  }

  toFigures(options: TallyOptions): CallFigures {
    const codes = [...this.#codes].map(([code, count]) => ({ code, count }));
    return {
      calls: this.#time.count,
      errors: this.#errors,
      recalled: this.#recalled,
      costUsd: this.#costUsd,
      codes: codes.toSorted((left, right) => right.count - left.count),
      time: toTimeStats(this.#time, options),
      queue: { calls: this.#queue?.count ?? 0, ...toTimeStats(this.#queue ?? nothing, options) },
      ...(this.#slices !== undefined && { slices: [...this.#slices] }),
    };
  }
}

const nothing = new Histogram();

function toTimeStats(histogram: Histogram, { steps = false }: TallyOptions): TimeStats {
  return {
    p50Ms: histogram.quantile(0.5),
    p95Ms: histogram.quantile(0.95),
    p99Ms: histogram.quantile(0.99),
    maxMs: histogram.maxMs,
    meanMs: histogram.sumMs / Math.max(1, histogram.count),
    ...(steps && { steps: histogram.toSteps() }),
  };
}
