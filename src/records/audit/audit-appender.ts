import { KitbagError } from "../../core/errors.ts";
import { chainedAppends } from "../../store/chained-append.ts";
import { toOpenLine, type OpenLine } from "./audit-chain.ts";
import type { AuditEntry, AuditHead } from "./audit-entry.ts";
import { createChainedWrite, createWrite, type WriterParts } from "./write-chain.ts";

/** Appends entries to the chain. */
export interface AuditAppender {
  /** Resolves when the entry is on disk, and the head of the chain behind it in the second place. */
  append(entry: AuditEntry): Promise<void>;
  /** Waits for what was appended. */
  close(): Promise<void>;
}

interface Waiting {
  readonly line: OpenLine;
  resolve(): void;
  reject(cause: unknown): void;
}

/** One append takes no more than these. */
const largestBatch = 1000;

/**
 * Makes what appends. Entries of one turn go together; those that come while others are written wait for them and go together
 * next, unless the log can take them along: each must know the hash of the one before it.
 */
export function createAppender(parts: WriterParts, start: AuditHead): AuditAppender {
  const waiting: Waiting[] = [];
  const chainedAppend = chainedAppends.get(parts.log);
  const write =
    chainedAppend === undefined ? createWrite(parts, start) : createChainedWrite(parts, chainedAppend, start);
  let isBusy = false;
  let isClosed = false;
  let last: Promise<void> = Promise.resolve();
  /** So many of those that wait are a matter of the write that is going on. */
  let taken = 0;

  function take(): readonly OpenLine[] {
    taken = Math.min(waiting.length, largestBatch);
    return waiting.slice(0, taken).map(({ line }) => line);
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      taken = Math.min(waiting.length, largestBatch);
      try {
        const after = await write(take);
        // Before anybody is answered: an end that is cut off later is missed there.
        parts.anchor?.write(after);
        for (const { resolve } of waiting.splice(0, taken)) resolve();
      } catch (cause) {
        for (const { reject } of waiting.splice(0, taken)) reject(cause);
      }
    }
    isBusy = false;
  }

  return {
    append(entry) {
      if (isClosed) return Promise.reject(new KitbagError("store-closed", { operation: "audit.append" }));
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      try {
        // Here, so that an entry that cannot be kept fails alone.
        waiting.push({ line: toOpenLine(entry), resolve, reject });
      } catch (cause) {
        reject(cause);
        return promise;
      }
      last = promise;
      if (!isBusy) {
        isBusy = true;
        // After everything that can go on now has, so that calls that run at once share one write.
        process.nextTick(() => void flush());
      }
      return promise;
    },
    async close() {
      isClosed = true;
      await last.catch(() => {});
    },
  };
}
