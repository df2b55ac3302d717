/*
 * Records: what is written of runs, calls and tools, and what reads it: journals (`runs/`), the audit (`audit/`), statistics
 * (`stats/`), versions (`versions/`). May import the store and everything below. Start here: journals, calls and the audit are written
 * through this recorder; then `runs/run-journal.ts`, `stats/call-records.ts` and `audit/open-audit.ts`.
 */
/** One item on its way into a stream. */
export interface Recording<Item, Answer> {
  readonly item: Item;
  /** Whether an earlier write of it failed. */
  isLate: boolean;
  resolve(answer: Answer): void;
  reject(cause: unknown): void;
}

/** How a recorder writes. */
export interface RecorderOptions<Item, Answer> {
  /** Writes these, in this order, and resolves each of them. If it rejects, all of them are rejected. It is called again only when it has settled. */
  write(recordings: readonly Recording<Item, Answer>[]): Promise<void>;
  /** Tells whether an item whose write failed waits for the next write, before everything else. @default never */
  isKept?(recording: Recording<Item, Answer>, cause: unknown): boolean;
  /** Called when items were kept: it calls {@link Recorder.send} when it is time to try again. */
  onKept?(): void;
}

/** One write takes no more items. */
const largestWrite = 1000;

/**
 * Writes the lines of one stream in the order of the calls: the journal of a run, the calls, and the audit. One write is under way at
 * a time, because the position (or the hash) that the next one counts on is known only then. Lines that come meanwhile wait here; which
 * lines share a commit is decided by the writer of the store, when it calls `take`.
 */
export class Recorder<Item, Answer> {
  readonly #options: RecorderOptions<Item, Answer>;
  #waiting: Recording<Item, Answer>[] = [];
  #isBusy = false;

  constructor(options: RecorderOptions<Item, Answer>) {
    this.#options = options;
  }

  append(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, isLate: false, resolve, reject });
      this.send();
    });
  }

  /** Writes what waits, also what was kept, unless a write is under way. */
  readonly send = (): void => {
    if (!this.#isBusy && this.#waiting.length > 0) void this.#sendAll();
  };

  async #sendAll(): Promise<void> {
    this.#isBusy = true;
    do {
      await endOfTurn();
      const recordings = this.#waiting.splice(0, largestWrite);
      try {
        await this.#options.write(recordings);
      } catch (cause) {
        this.#fail(recordings, cause);
      }
    } while (this.#waiting.some(({ isLate }) => !isLate));
    this.#isBusy = false;
  }

  #fail(recordings: readonly Recording<Item, Answer>[], cause: unknown): void {
    const { isKept, onKept } = this.#options;
    const kept = recordings.filter((recording) => {
      if (isKept?.(recording, cause) === true) return true;
      recording.reject(cause);
      return false;
    });
    if (kept.length === 0) return;
    for (const recording of kept) recording.isLate = true;
    this.#waiting.unshift(...kept);
    onKept?.();
  }
}

/** Resolves when everything that can go on in this turn of the event loop has done so: what that appends goes together. */
function endOfTurn(): Promise<void> {
  // From a microtask: only then is the tick behind all the other ones.
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
