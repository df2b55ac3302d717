import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { LogEntry, LogStore } from "../../core/store.ts";
import { toKept } from "../kept-value.ts";
import { toRecord } from "./run-records.ts";

/** The journal of a run, for the one who has its lease. */
export interface Journal {
  /**
   * Appends all of `values` or none, in the order of the calls; nobody need wait for one to send the next. No values only ask
   * whether the lease is still there.
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
  resolve(position: number): void;
  reject(cause: unknown): void;
}

/**
 * Makes the journal of a run. Each append says which position it expects, so one that comes after somebody else's record is
 * refused by the store: that is the fence.
 *
 * One append is on its way at a time, and what is appended meanwhile goes together with the next. Were there several, each at
 * the position behind the one before, and did the first fail because somebody else wrote there, then the second would find
 * just the position that it expects.
 */
export function createJournal(options: JournalOptions): Journal {
  return new RunJournal(options);
}

const givenBack = "it was given back";

class RunJournal implements Journal {
  readonly #options: JournalOptions;
  /** Everything up to here is ours, or was there before. */
  #known: number;
  #waiting: Batch[] = [];
  #isSending = false;
  /** Whether there may be something of ours behind `#known`. */
  #mustLook = false;
  #isClosing = false;
  #lost: KitbagError<"lease-lost"> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#known = options.position;
  }

  async append(values: readonly JsonValue[]): Promise<number> {
    if (this.#isClosing) throw this.#lost ?? this.#toLost(givenBack);
    // Checked here, so that a value that cannot be kept spoils nobody else's append.
    const kept = values.map((value, index) => toKept(this.#options.stream, value, index));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ values: kept, resolve, reject });
      if (!this.#isSending) void this.#drain();
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

  async #drain(): Promise<void> {
    this.#isSending = true;
    // What is appended in the same turn goes together.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0));
    this.#isSending = false;
  }

  async #send(batches: readonly Batch[]): Promise<void> {
    const values = batches.flatMap((batch) => batch.values);
    const start = await this.#write(values).catch((cause: unknown) => {
      for (const batch of batches) batch.reject(this.#lost ?? cause);
    });
    if (start === undefined) return;
    let position = start;
    for (const batch of batches) batch.resolve((position += batch.values.length));
  }

  /** Answers with the position before the values. */
  async #write(values: readonly JsonValue[]): Promise<number> {
    if (this.#mustLook) await this.#look();
    if (this.#lost) throw this.#lost;
    const { log, stream } = this.#options;
    const start = this.#known;
    try {
      this.#known = await log.append(stream, values, { expectedPosition: start });
    } catch (cause) {
      this.#mustLook = true;
      const found = await this.#look().catch(() => 0);
      // It was written, and only the answer was lost.
      if (found >= values.length && isKitbagError(cause, "store-unavailable")) return start;
      throw cause;
    }
    this.#tell(values);
    return start;
  }

  #tell(values: readonly JsonValue[]): void {
    for (const value of values) this.#options.onAppended(value);
  }

  /** Reads what is there behind what is known, and answers how much of it is ours: all that is before another lease. */
  async #look(): Promise<number> {
    const { log, stream, epoch } = this.#options;
    const entries = await readAll(log, stream, this.#known);
    const index = entries.findIndex(({ value }) => isLeaseAfter(epoch, value));
    const ours = index === -1 ? entries : entries.slice(0, index);
    this.#mustLook = false;
    this.#known += ours.length;
    this.#tell(ours.map(({ value }) => value));
    const taker = entries[index];
    if (taker) this.fence(`the worker ${JSON.stringify(toWorker(taker))} has taken it over`);
    return ours.length;
  }
}

function isLeaseAfter(epoch: number, value: JsonValue): boolean {
  const record = toRecord(value);
  return record?.type === "lease-start" && record.epoch > epoch;
}

function toWorker({ value }: LogEntry): string {
  return (value as unknown as { readonly worker: string }).worker;
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
