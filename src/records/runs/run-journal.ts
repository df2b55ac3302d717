import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { cloneJson, type JsonValue } from "../../core/json.ts";
import type { LogEntry, LogStore } from "../../core/store.ts";
import { toKept } from "../../store/kept-value.ts";
import { Recorder, type Recording } from "../recorder.ts";
import { type RunRecord, toRecord } from "./run-records.ts";

/** The journal of a run, for the worker that has its lease. */
export interface Journal {
  /**
   * Appends all of `values` or none, in the order of the calls; what is appended in one turn of the event loop goes together. No
   * values only ask whether the lease is still there. Not for records.
   *
   * @throws {KitbagError} `lease-lost` if another worker has taken the run, now or before; then nothing is written.
   */
  append(values: readonly JsonValue[]): Promise<number>;
  /**
   * Appends a record of Kitbag's own, which is known to be JSON that can be kept. With `isThere`, which tells whether the record was
   * told to `onAppended`, it is tried again while the store is away, before everything else: what is in the journal later than the
   * record is never there without it.
   */
  appendRecord(record: RunRecord, isThere?: () => boolean): Promise<number>;
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
  /** Called once with a copy of every value, after it was acknowledged. */
  onAppended(value: JsonValue): void;
  /** Called once. */
  onLost(cause: KitbagError<"lease-lost">): void;
  /** Calls `callback` when it is time to try again. */
  later(callback: () => void): void;
}

/** What was appended in one call. */
interface Batch {
  readonly values: readonly JsonValue[];
  /** What makes it one that is tried again. */
  readonly isThere?: (() => boolean) | undefined;
}

type Batches = readonly Recording<Batch, number>[];

/**
 * Makes the journal of a run. Each append says which position it expects, so one that comes after the record of another lease is
 * refused by the store: that is the fence. Only one is on its way at a time. Were there several, each at the position behind the one
 * before, and did the first fail because another worker wrote there, then the second would find just the position that it expects.
 */
export function createJournal(options: JournalOptions): Journal {
  return new RunJournal(options);
}

const givenBack = "it was given back";

class RunJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #recorder: Recorder<Batch, number>;
  /** Everything up to here is ours, or was there before. */
  #known: number;
  /** Whether there may be something of ours behind `#known`. */
  #mustLook = false;
  #isClosing = false;
  #lost: KitbagError<"lease-lost"> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#known = options.position;
    this.#recorder = new Recorder({
      write: (batches) => this.#write(batches),
      isKept: ({ item }, cause) => item.isThere !== undefined && this.#lost === undefined && isTemporary(cause),
      onKept: () => options.later(this.#recorder.send),
    });
  }

  async append(values: readonly JsonValue[]): Promise<number> {
    this.#checkOpen();
    const { stream } = this.#options;
    // Checked here, so that a value that cannot be kept spoils no other append.
    return this.#recorder.append({ values: values.map((value, index) => toKept(stream, value, index)) });
  }

  async appendRecord(record: RunRecord, isThere?: () => boolean): Promise<number> {
    this.#checkOpen();
    return this.#recorder.append({ values: [cloneJson(record as unknown as JsonValue)], isThere });
  }

  async close(value: JsonValue): Promise<void> {
    this.#checkOpen();
    const values = [toKept(this.#options.stream, value, 0)];
    this.#isClosing = true;
    try {
      await this.#recorder.append({ values });
      this.fence(givenBack);
    } catch (cause) {
      this.#isClosing = false;
      throw cause;
    }
  }

  fence(reason: string): void {
    if (this.#lost) return;
    this.#lost = this.#toLost(reason);
    this.#options.onLost(this.#lost);
  }

  #checkOpen(): void {
    if (this.#isClosing) throw this.#lost ?? this.#toLost(givenBack);
  }

  #toLost(reason: string): KitbagError<"lease-lost"> {
    const { runId, epoch } = this.#options;
    return new KitbagError("lease-lost", { run: runId, epoch, reason });
  }

  async #write(batches: Batches): Promise<void> {
    const { log, stream, onAppended } = this.#options;
    try {
      if (this.#mustLook) await this.#look();
      if (this.#lost) throw this.#lost;
      const start = this.#known;
      // One that was tried before may be there although the store said that it was not.
      const parts = batches.map(({ isLate, item }) => (isLate && item.isThere?.() === true ? [] : item.values));
      const values = parts.flat();
      try {
        this.#known = await log.append(stream, values, { expectedPosition: start });
        for (const value of values) onAppended(value);
      } catch (cause) {
        await this.#checkWritten(values.length, cause);
      }
      let position = start;
      for (const [index, { resolve }] of batches.entries()) resolve((position += parts[index]?.length ?? 0));
    } catch (cause) {
      throw this.#lost ?? cause;
    }
  }

  /** Throws `cause` again, unless everything was written and only the answer was lost. */
  async #checkWritten(count: number, cause: unknown): Promise<void> {
    this.#mustLook = true;
    const found = await this.#look().catch(() => -1);
    if (found < count || !isKitbagError(cause, "store-unavailable")) throw cause;
  }

  /** Reads what is there behind what is known, and answers how much of it is ours: all that is before another lease. */
  async #look(): Promise<number> {
    const { log, stream, epoch } = this.#options;
    const entries = await readAll(log, stream, this.#known);
    const index = entries.findIndex(({ value }) => isLeaseAfter(epoch, value));
    const ours = index === -1 ? entries : entries.slice(0, index);
    this.#mustLook = false;
    this.#known += ours.length;
    for (const { value } of ours) this.#options.onAppended(value);
    const taker = entries[index];
    if (taker) this.fence(`the worker ${JSON.stringify(toWorker(taker))} has taken it over`);
    return ours.length;
  }
}

/** Whether what could not be written may be written when it is tried again. */
function isTemporary(cause: unknown): boolean {
  return isKitbagError(cause, "store-unavailable") || isKitbagError(cause, "store-conflict");
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
