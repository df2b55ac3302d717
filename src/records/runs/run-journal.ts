import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { cloneJson, type JsonValue } from "../../core/json.ts";
import type { LogEntry, LogStore } from "../../core/store.ts";
import {
  type AppendAtEnd,
  type AppendedAt,
  appendsAtEnd,
  type KeyChange,
  type NextEntries,
  type StreamEnd,
} from "../../store/append-at-end.ts";
import { checkPosition } from "../../store/checks.ts";
import { toKept, toKeptText } from "../../store/kept-value.ts";
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
  /**
   * Called once with every record, after it was acknowledged; with its JSON text if other code may hold the same object. Other values
   * are passed only where they were copied.
   */
  onAppended(value: JsonValue, text?: string): void;
  /** Called once. */
  onLost(cause: KitbagError<"lease-lost">): void;
  /** Calls `callback` when it is time to try again. */
  later(callback: () => void): void;
}

interface Line {
  /** `undefined` where it need not be told or sent: it is no record, and the store takes its text. */
  readonly value: JsonValue | undefined;
  /** The value as JSON, where the store takes that. */
  readonly text: string | undefined;
}

/** What was appended in one call. */
interface Batch {
  readonly lines: readonly Line[];
  readonly change?: KeyChange | undefined;
  /** What makes it one that is tried again. */
  readonly isThere?: (() => boolean) | undefined;
}

/** Where a batch ends, and whether its change was written with it. */
interface Written {
  readonly position: number;
  readonly hasChanged: boolean;
}

type Batches = readonly Recording<Batch, Written>[];

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
  readonly #atEnd: AppendAtEnd | undefined;
  readonly #recorder: Recorder<Batch, Written>;
  /** Everything up to here is ours, or was there before. */
  #known: number;
  /** Whether there may be something of ours behind `#known`. */
  #mustLook = false;
  #isClosing = false;
  #lost: KitbagError<"lease-lost"> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#atEnd = appendsAtEnd.get(options.log);
    this.#known = options.position;
    this.#recorder = new Recorder({
      write: (take) => this.#write(take),
      isKept: ({ item }, cause) => item.isThere !== undefined && this.#lost === undefined && isTemporary(cause),
      onKept: () => options.later(this.#recorder.send),
    });
  }

  async append(values: readonly JsonValue[]): Promise<number> {
    this.#checkOpen();
    // Checked here, so that a value that cannot be kept spoils no other append.
    const { position } = await this.#recorder.append({
      lines: values.map((value, index) => this.#toLine(value, index)),
    });
    return position;
  }

  async appendRecord(record: RunRecord, isThere?: () => boolean): Promise<number> {
    this.#checkOpen();
    const value = record as unknown as JsonValue;
    const line = this.#atEnd ? { value, text: JSON.stringify(value) } : { value: cloneJson(value), text: undefined };
    return (await this.#recorder.append({ lines: [line], isThere })).position;
  }

  async close(value: JsonValue, change?: KeyChange): Promise<boolean> {
    this.#checkOpen();
    const copy = toKept(this.#options.stream, value, 0);
    const lines = [{ value: copy, text: this.#atEnd && JSON.stringify(copy) }];
    this.#isClosing = true;
    try {
      const { hasChanged } = await this.#recorder.append({ lines, change });
      this.fence(givenBack);
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
    if (this.#atEnd) return { value: undefined, text: toKeptText(stream, value, index) };
    return { value: toKept(stream, value, index), text: undefined };
  }

  async #write(take: () => Batches): Promise<void> {
    let next: Next | undefined;
    const makeNext = (): Next => {
      if (this.#lost) throw this.#lost;
      return (next = toNext(take()));
    };
    try {
      if (this.#mustLook) await this.#look();
      const start = this.#known;
      let hasChanged = false;
      try {
        const { position, version } = await this.#put(makeNext, countBytes(take()));
        this.#known = position;
        for (const { value, text } of next?.lines ?? []) if (value !== undefined) this.#options.onAppended(value, text);
        hasChanged = version === 0;
      } catch (cause) {
        if (next === undefined || cause === this.#lost) throw cause;
        await this.#checkWritten(next.lines.length, cause);
      }
      resolveAll(next as Next, start, hasChanged);
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

  async #put(makeNext: () => Next, bytes: number): Promise<AppendedAt> {
    const { log, stream } = this.#options;
    if (this.#atEnd === undefined) {
      const values = makeNext().lines.map(({ value }) => value as JsonValue);
      return { position: await log.append(stream, values, { expectedPosition: this.#known }), version: -1 };
    }
    const make = ({ position }: StreamEnd): NextEntries => {
      const { lines, batches } = makeNext();
      checkPosition(stream, position, this.#known);
      // Only the last batch of all has a change.
      return { texts: lines.map(({ text }) => text as string), change: batches.at(-1)?.item.change };
    };
    return this.#atEnd.append(stream, make, bytes);
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

/** What is written at once. */
interface Next {
  readonly batches: Batches;
  readonly lines: readonly Line[];
  /** How many lines each batch has; 0 for one that was tried before, and is there although the store said that it was not. */
  readonly counts: readonly number[];
}

function toNext(batches: Batches): Next {
  const lines: Line[] = [];
  const counts = batches.map(({ isLate, item }) => {
    if (isLate && item.isThere?.() === true) return 0;
    // Not `flatMap`: for a few short lists it takes several times as long.
    for (const line of item.lines) lines.push(line);
    return item.lines.length;
  });
  return { batches, lines, counts };
}

function resolveAll({ batches, counts }: Next, start: number, hasChanged: boolean): void {
  let position = start;
  for (const [index, { item, resolve }] of batches.entries()) {
    position += counts[index] ?? 0;
    resolve({ position, hasChanged: hasChanged && item.change !== undefined });
  }
}

function countBytes(batches: Batches): number {
  let bytes = 0;
  for (const { item } of batches) for (const { text } of item.lines) bytes += text?.length ?? 0;
  return bytes;
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
