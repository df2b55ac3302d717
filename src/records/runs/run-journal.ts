import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { cloneJson, type JsonValue } from "../../core/json.ts";
import type { LogEntry, LogStore } from "../../core/store.ts";
import { keptAppends, type KeptAppends, type KeptPlace, type KeyChange } from "../../store/kept-append.ts";
import { toKept } from "../../store/kept-value.ts";
import { toRecord, type RunRecord } from "./run-records.ts";
import { toKeptText } from "../../store/to-kept-text.ts";

/** The journal of a run, for the one who has its lease. */
export interface Journal {
  /**
   * Appends all of `values` or none, in the order of the calls; nobody need wait for one to send the next. No values only ask
   * whether the lease is still there. Not for records.
   *
   * @throws {KitbagError} `lease-lost` if somebody else has taken the run, now or before; then nothing is written.
   */
  append(values: readonly JsonValue[]): Promise<number>;
  /** Appends a record of Kitbag's own, which is known to be JSON that can be kept. */
  appendRecord(record: RunRecord): Promise<number>;
  /**
   * Appends a record together with what is appended next, or when the event loop has turned. While the store is away it is tried
   * again, and goes before everything else: who knows that something later is there knows that this is. `isThere` tells whether the
   * record was told to `onAppended`.
   */
  holdRecord(record: RunRecord, isThere: () => boolean): Promise<void>;
  /**
   * Appends the last value there is: nothing is written behind it, unless it fails. Answers whether `change` was written with it, for
   * which the store must be one that can do so.
   */
  close(value: JsonValue, change?: KeyChange): Promise<boolean>;
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
  /** Called with every record that is there, once, after it was acknowledged; with its text if others may have it too. Other values are told only where they were copied. */
  onAppended(value: JsonValue, text?: string): void;
  /** Called once. */
  onLost(cause: KitbagError<"lease-lost">): void;
  /** Calls `callback` when it is time to try again. */
  later(callback: () => void): void;
}

interface Line {
  /** `undefined` where nobody need be told of it, or send it: it is no record, and the store takes its text. */
  readonly value: JsonValue | undefined;
  /** The value as JSON, where the store takes that. */
  readonly text: string | undefined;
}

/** What was appended in one call. */
interface Batch {
  readonly lines: readonly Line[];
  readonly change: KeyChange | undefined;
  /** What makes it one that is tried again: whether it is there. */
  readonly isThere?: () => boolean;
  /** Whether it was tried before. */
  isLate?: boolean;
  /** Told where it ends, and whether its change was written with it. */
  resolve(position: number, hasChanged: boolean): void;
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
  readonly #kept: KeptAppends | undefined;
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
    this.#kept = keptAppends.get(options.log);
    this.#known = options.position;
  }

  append(values: readonly JsonValue[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#checkOpen();
      // Checked here, so that a value that cannot be kept spoils nobody else's append.
      const lines = values.map((value, index) => this.#toLine(value, index));
      this.#add({ lines, change: undefined, resolve, reject });
    });
  }

  appendRecord(record: RunRecord): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#checkOpen();
      this.#add({ lines: [this.#toRecordLine(record)], change: undefined, resolve, reject });
    });
  }

  holdRecord(record: RunRecord, isThere: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#checkOpen();
      const lines = [this.#toRecordLine(record)];
      this.#waiting.push({ lines, change: undefined, isThere, resolve: () => resolve(), reject });
      setImmediate(this.#sendWaiting);
    });
  }

  async close(value: JsonValue, change?: KeyChange): Promise<boolean> {
    this.#checkOpen();
    const copy = toKept(this.#options.stream, value, 0);
    const lines = [{ value: copy, text: this.#kept && JSON.stringify(copy) }];
    this.#isClosing = true;
    try {
      const hasChanged = await new Promise<boolean>((resolve, reject) => {
        this.#add({ lines, change, resolve: (_position, isWritten) => resolve(isWritten), reject });
      });
      withoutStack(() => this.fence(givenBack));
      return hasChanged;
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

  #toLine(value: JsonValue, index: number): Line {
    const { stream } = this.#options;
    if (this.#kept) return { value: undefined, text: toKeptText(stream, value, index) };
    return { value: toKept(stream, value, index), text: undefined };
  }

  #toRecordLine(record: RunRecord): Line {
    const value = record as unknown as JsonValue;
    return this.#kept ? { value, text: JSON.stringify(value) } : { value: cloneJson(value), text: undefined };
  }

  #add(batch: Batch): void {
    this.#waiting.push(batch);
    this.#sendWaiting();
  }

  readonly #sendWaiting = (): void => {
    if (!this.#isSending && this.#waiting.length > 0) void this.#send();
  };

  /** Sends what waits, until nothing does. All in one function: each that waits for another one takes its time. */
  async #send(): Promise<void> {
    this.#isSending = true;
    // What is appended in the same turn goes together.
    await Promise.resolve();
    do {
      let batches = this.#waiting;
      this.#waiting = [];
      try {
        if (this.#mustLook) await this.#look();
        if (this.#lost) throw this.#lost;
        if (batches[0]?.isLate === true) batches = withoutWritten(batches);
        const lines = toLines(batches);
        // Only the last batch of all has a change.
        const change = batches.at(-1)?.change;
        const start = this.#known;
        let hasChanged = false;
        try {
          const { position, version } = await this.#put(lines, change);
          this.#known = position;
          for (const { value, text } of lines) if (value !== undefined) this.#options.onAppended(value, text);
          hasChanged = change !== undefined && version === 0;
        } catch (cause) {
          await this.#checkWritten(lines.length, cause);
        }
        let position = start;
        for (const batch of batches) batch.resolve((position += batch.lines.length), hasChanged);
      } catch (cause) {
        this.#refuse(batches, cause);
      }
    } while (this.#waiting.some(isNew));
    this.#isSending = false;
  }

  /** Tells everybody whose lines could not be written, but tries again what is held, before everything else. */
  #refuse(batches: readonly Batch[], cause: unknown): void {
    const late: Batch[] = [];
    for (const batch of batches) {
      const isHeld = batch.isThere !== undefined && this.#lost === undefined && isTemporary(cause);
      if (isHeld) late.push(Object.assign(batch, { isLate: true }));
      else batch.reject(this.#lost ?? cause);
    }
    if (late.length === 0) return;
    this.#waiting.unshift(...late);
    this.#options.later(this.#sendWaiting);
  }

  /** Throws `cause` again, unless everything was written and only the answer was lost. */
  async #checkWritten(count: number, cause: unknown): Promise<void> {
    this.#mustLook = true;
    const found = await this.#look().catch(() => 0);
    if (found < count || !isKitbagError(cause, "store-unavailable")) throw cause;
  }

  #put(lines: readonly Line[], change: KeyChange | undefined): Promise<KeptPlace> {
    const { log, stream } = this.#options;
    if (this.#kept !== undefined) return this.#kept.append(stream, lines.map(toText), this.#known, change);
    return log
      .append(stream, lines.map(toValue), { expectedPosition: this.#known })
      .then((position) => ({ position, version: -1 }));
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

function toLines(batches: readonly Batch[]): readonly Line[] {
  const lines: Line[] = [];
  // Not `flatMap`: for a few short lists it takes several times as long.
  for (const batch of batches) for (const line of batch.lines) lines.push(line);
  return lines;
}

/** Leaves out what was tried before, and was written although the store said that it was not. */
function withoutWritten(batches: readonly Batch[]): Batch[] {
  return batches.filter((batch) => {
    const isWritten = batch.isLate === true && batch.isThere?.() === true;
    if (isWritten) batch.resolve(0, false);
    return !isWritten;
  });
}

function isNew({ isLate }: Batch): boolean {
  return isLate !== true;
}

/** Whether what could not be written may be written when it is tried again. */
export function isTemporary(cause: unknown): boolean {
  return isKitbagError(cause, "store-unavailable") || isKitbagError(cause, "store-conflict");
}

function toText({ text }: Line): string {
  return text as string;
}

function toValue({ value }: Line): JsonValue {
  return value as JsonValue;
}

/** That a lease was given back is no failure: nobody asks where, and the stack of an error costs more than all the rest. */
function withoutStack(run: () => void): void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  run();
  Error.stackTraceLimit = stackTraceLimit;
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
