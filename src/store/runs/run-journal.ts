import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { LogEntry, LogStore } from "../../core/store.ts";
import { toKept } from "../kept-value.ts";
import { toRecord } from "./run-records.ts";

/** The journal of a run, for the one who has its lease. */
export interface Journal {
  /**
   * Appends all of `values` or none, in the order of the calls; nobody need wait for one to send the next. No values only ask
   * whether the lease is still there. One that fails takes those with it that were sent before it was known to have failed.
   *
   * @throws {KitbagError} `lease-lost` if somebody else has taken the run, now or before; then nothing is written.
   */
  append(values: readonly JsonValue[]): Promise<number>;
  /** Appends the last value there is: nothing is written behind it, unless it fails. */
  close(value: JsonValue): Promise<void>;
  /** Says that the lease is lost: nothing is written from now on. */
  fence(reason: string): void;
}

/** What a journal needs. */
export interface JournalOptions {
  readonly log: LogStore;
  readonly stream: string;
  readonly runId: string;
  /** The lease that everything is written under, and the position of its record. */
  readonly epoch: number;
  readonly position: number;
  /** Called with everything that is there, once, after it was acknowledged. */
  onAppended(value: JsonValue): void;
  /** Called once. */
  onLost(cause: KitbagError<"lease-lost">): void;
}

interface Batch {
  readonly values: readonly JsonValue[];
  /** The position that it was sent at; `undefined` if it was held back. */
  expected?: number;
  cause?: unknown;
  resolve(position: number): void;
  reject(cause: unknown): void;
}

/**
 * Makes the journal of a run. Each append says which position it expects, so one that comes after somebody else's record is
 * refused by the store: that is the fence. The positions are counted here, so that appends need not wait for each other.
 */
export function createJournal(options: JournalOptions): Journal {
  return new RunJournal(options);
}

const givenBack = "it was given back";

class RunJournal implements Journal {
  readonly #options: JournalOptions;
  /** Everything up to here is known to be there; everything up to `#sent` is there or on its way. */
  #known: number;
  #sent: number;
  #inFlight = 0;
  /** Batches that failed, and those that wait until it is known why. */
  #held: Batch[] = [];
  #isHolding = false;
  #isClosing = false;
  #lost: KitbagError<"lease-lost"> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#known = options.position;
    this.#sent = options.position;
  }

  async append(values: readonly JsonValue[]): Promise<number> {
    if (this.#isClosing) throw this.#lost ?? this.#toLost(givenBack);
    // Checked here, so that a value that cannot be kept spoils nobody else's append.
    const kept = values.map((value, index) => toKept(this.#options.stream, value, index));
    return new Promise((resolve, reject) => {
      const mustLook = this.#isHolding && this.#inFlight === 0 && this.#held.length === 0;
      this.#sendOrHold({ values: kept, resolve, reject });
      if (mustLook && !this.#lost) void this.#recover();
    });
  }

  async close(value: JsonValue): Promise<void> {
    if (this.#isClosing) throw this.#lost ?? this.#toLost(givenBack);
    const last = this.append([value]);
    this.#isClosing = true;
    try {
      await last;
    } catch (cause) {
      this.#isClosing = false;
      throw cause;
    }
    this.fence(givenBack);
  }

  fence(reason: string): void {
    if (this.#lost) return;
    this.#lost = this.#toLost(reason);
    this.#options.onLost(this.#lost);
  }

  #toLost(reason: string): KitbagError<"lease-lost"> {
    const { runId, epoch } = this.#options;
    return new KitbagError("lease-lost", { run: runId, epoch, reason });
  }

  #sendOrHold(batch: Batch): void {
    if (this.#lost) batch.reject(this.#lost);
    else if (this.#isHolding) this.#held.push(batch);
    else void this.#send(batch);
  }

  async #send(batch: Batch): Promise<void> {
    const { log, stream } = this.#options;
    batch.expected = this.#sent;
    this.#sent += batch.values.length;
    this.#inFlight += 1;
    try {
      const position = await log.append(stream, batch.values, { expectedPosition: batch.expected });
      this.#known = Math.max(this.#known, position);
      this.#tell(batch.values);
      batch.resolve(position);
    } catch (cause) {
      batch.cause = cause;
      this.#held.push(batch);
      this.#isHolding = true;
    }
    this.#inFlight -= 1;
    if (this.#isHolding && this.#inFlight === 0) await this.#recover();
  }

  #tell(values: readonly JsonValue[]): void {
    for (const value of values) this.#options.onAppended(value);
  }

  /** Finds out what became of the batches that failed. Until that is known, new ones are held back. */
  async #recover(): Promise<void> {
    const acknowledged = this.#known;
    try {
      await this.#look();
    } catch (cause) {
      // Nothing is known: the next append looks again.
      for (const batch of this.#held.splice(0)) batch.reject(this.#lost ?? batch.cause ?? cause);
      return;
    }
    const held = this.#held.splice(0);
    this.#isHolding = false;
    this.#settle(held.filter(wasSent).toSorted(byPosition), acknowledged);
    for (const batch of held.filter((batch) => !wasSent(batch))) this.#sendOrHold(batch);
  }

  /** Reads what is there behind what is known. */
  async #look(): Promise<void> {
    const { log, stream, epoch } = this.#options;
    const entries = await readAll(log, stream, this.#known);
    const taker = findTaker(entries, epoch);
    if (taker !== undefined) this.fence(`the worker ${JSON.stringify(taker)} has taken it over`);
    else this.#tell(entries.map(({ value }) => value));
    this.#known += entries.length;
    this.#sent = this.#known;
  }

  /** What is there was written, although the answer was lost. The first that is not there takes the rest with it. */
  #settle(failed: readonly SentBatch[], acknowledged: number): void {
    let cause: unknown;
    for (const batch of failed) {
      const end = batch.expected + batch.values.length;
      const isWritten = !this.#lost && end <= this.#known && isKitbagError(batch.cause, "store-unavailable");
      if (isWritten && end <= acknowledged) this.#tell(batch.values);
      if (isWritten && cause === undefined) batch.resolve(end);
      else batch.reject(this.#lost ?? (cause ??= batch.cause));
    }
  }
}

type SentBatch = Batch & { readonly expected: number };

function wasSent(batch: Batch): batch is SentBatch {
  return batch.expected !== undefined;
}

function byPosition(left: SentBatch, right: SentBatch): number {
  return left.expected - right.expected;
}

/** Who wrote a newer lease, if somebody did. */
function findTaker(entries: readonly LogEntry[], epoch: number): string | undefined {
  for (const { value } of entries) {
    const record = toRecord(value);
    if (record?.type === "lease-start" && record.epoch > epoch) return record.worker;
  }
  return undefined;
}

const pageSize = 1000;

/** Reads a stream from a position to its end. */
export async function readAll(log: LogStore, stream: string, after = 0): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await log.read(stream, { after: after + entries.length, limit: pageSize });
    entries.push(...page);
    if (page.length < pageSize) return entries;
  }
}
