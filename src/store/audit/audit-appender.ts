import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import type { Anchor } from "./anchor-file.ts";
import { emptyHead, linkEntry, readLine, toHead } from "./audit-chain.ts";
import { auditStream, type AuditEntry, type AuditHead } from "./audit-entry.ts";
import type { AuditKeys } from "./audit-keys.ts";

/** What the chain is written with. */
export interface AppenderParts {
  readonly log: Store["log"];
  readonly keys: AuditKeys;
  readonly anchor: Anchor | undefined;
}

/** Appends entries to the chain. */
export interface AuditAppender {
  /** Resolves when the entry, and the head of the chain behind it, are on disk. */
  append(entry: AuditEntry): Promise<void>;
  /** Waits for what was appended. */
  close(): Promise<void>;
}

interface Waiting {
  readonly entry: AuditEntry;
  readonly kept: PromiseWithResolvers<void>;
}

/** One append takes no more than these. */
const largestBatch = 1000;
/** So often another process may be faster. */
const maxAttempts = 100;

/**
 * Makes what appends. Entries of one turn go together; those that come while others are written wait for them and go together
 * next: each must know the hash of the one before it.
 */
export function createAppender(parts: AppenderParts, start: AuditHead): AuditAppender {
  const waiting: Waiting[] = [];
  let head: AuditHead | undefined = start;
  let isBusy = false;
  let isClosed = false;
  let last: Promise<void> = Promise.resolve();

  async function write(entries: readonly AuditEntry[]): Promise<AuditHead> {
    for (let attempt = 1; ; attempt++) {
      const before = head ?? (await readHead(parts));
      // What went wrong must be looked up before anything follows it.
      head = undefined;
      const { lines, after } = linkAll(parts.keys, before, entries);
      try {
        await parts.log.append(auditStream, lines, { expectedPosition: before.count });
        head = after;
        return after;
      } catch (cause) {
        if (!isKitbagError(cause, "store-conflict") || attempt === maxAttempts) throw cause;
      }
    }
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, largestBatch);
      try {
        const after = await write(batch.map(({ entry }) => entry));
        void acknowledge(batch, parts.anchor?.write(after));
      } catch (cause) {
        for (const { kept } of batch) kept.reject(cause);
      }
    }
    isBusy = false;
  }

  return {
    async append(entry) {
      if (isClosed) throw new KitbagError("store-closed", { operation: "audit.append" });
      const kept = Promise.withResolvers<void>();
      waiting.push({ entry, kept });
      last = kept.promise;
      if (!isBusy) {
        isBusy = true;
        // After everything that can go on now has, so that calls that run at once share one write.
        process.nextTick(() => void flush());
      }
      return kept.promise;
    },
    async close() {
      isClosed = true;
      await last.catch(() => {});
    },
  };
}

/** Nothing is acknowledged before its head is in the second place: an end that is cut off later is missed there. */
async function acknowledge(batch: readonly Waiting[], anchored: Promise<void> | undefined): Promise<void> {
  try {
    await anchored;
    for (const { kept } of batch) kept.resolve();
  } catch (cause) {
    for (const { kept } of batch) kept.reject(cause);
  }
}

function linkAll(
  keys: AuditKeys,
  before: AuditHead,
  entries: readonly AuditEntry[],
): { readonly lines: readonly JsonValue[]; readonly after: AuditHead } {
  let after = before;
  const lines = entries.map((entry) => {
    const line = linkEntry(keys, after, entry);
    after = toHead(line);
    return line as unknown as JsonValue;
  });
  return { lines, after };
}

/**
 * The head of the chain as it is in the store.
 *
 * @throws {KitbagError} `audit-broken` if its last entry was not made with the key.
 */
export async function readHead({ log, keys }: Pick<AppenderParts, "log" | "keys">): Promise<AuditHead> {
  for (;;) {
    const position = await log.position(auditStream);
    if (position === 0) return emptyHead;
    const [entry, newer] = await log.read(auditStream, { after: position - 1, limit: 2 });
    // Somebody was faster.
    if (newer !== undefined) continue;
    const line = entry === undefined ? undefined : readLine(keys, entry.value);
    if (line?.position === position) return toHead(line);
    const problem = "the last entry was changed, or was made with another key";
    throw new KitbagError("audit-broken", { position, problem });
  }
}
