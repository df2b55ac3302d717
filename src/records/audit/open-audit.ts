import { existsSync } from "node:fs";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { type JsonObject, type JsonValue, toCanonicalJson } from "../../core/json.ts";
import type { LogStore, Store } from "../../core/store.ts";
import { Recorder } from "../recorder.ts";
import { type Anchor, makeAnchorFile, openAnchor, readAnchor } from "./anchor-file.ts";
import {
  type AuditEntry,
  type AuditHead,
  auditStream,
  emptyHead,
  linkLine,
  readLine,
  toHead,
  toOpenEntry,
} from "./audit-entry.ts";
import { type AuditKeys, type AuditKeySource, loadAuditKeys, type Sealer, toSealer } from "./audit-keys.ts";

/**
 * Writes the audit: a chain of entries, in which each holds the hash of the one before it.
 *
 * **Contract**: what `append` has resolved is on disk in the chain, as far as the store keeps its promises, and in the anchor, which
 * goes to disk within a tenth of a second, unless `process.exit()` comes before.
 * Several processes may write to one chain.
 */
export interface Audit extends Sealer {
  /**
   * Appends an entry.
   *
   * @throws {KitbagError} `store-…` if it cannot be written; `audit-broken` if the end of the chain was tampered with.
   */
  append(entry: AuditEntry): Promise<void>;
  /** A keyed digest of a value: equal values have equal digests, and without the key a short value cannot be guessed from it. */
  digest(value: JsonValue): string;
  /** Waits for what is being written. The store stays open. */
  close(): Promise<void>;
}

/** What {@link openAudit} takes: the store, the key, and the anchor. */
export type AuditOptions = AuditKeySource & {
  /** Where the chain is kept. */
  readonly store: Store;
  /**
   * A small file with the newest head of the chain, for this store alone, in another place than the store. It is made with the
   * first entry.
   */
  readonly anchorFile: string;
};

/**
 * Opens the audit of a store: give it to `createWorkspace`, and every call is recorded in it. The key is 32 random bytes in a
 * file that only its owner can read; it is made if it is missing and nothing was written with it yet.
 *
 * @throws {KitbagError} `audit-broken` if the end of the chain was changed or cut off, or the anchor is missing; `audit-key-invalid`.
 *
 * @example
 * ```ts
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createWorkspace, defineTool, memoryStore } from "kitbag";
 * import { openAudit, verifyAudit } from "kitbag/store";
 *
 * const home = await mkdtemp(join(tmpdir(), "kitbag-"));
 * const files = { keyFile: join(home, "audit.key"), anchorFile: join(home, "audit.head") };
 * const store = memoryStore();
 * const audit = await openAudit({ store, ...files });
 * const hello = defineTool({ name: "hello", description: "Greets", run: () => "Hello" });
 * const workspace = createWorkspace({ tools: [hello], store, audit });
 *
 * await workspace.call("hello");
 * const verdict = await verifyAudit(store, files);
 * console.assert(verdict.ok && verdict.count === 2);
 * await audit.close();
 * ```
 */
export async function openAudit(options: AuditOptions): Promise<Audit> {
  const { store, anchorFile } = options;
  // A key that is gone is not made anew: what was written with it could never be verified again.
  const keys = await loadAuditKeys(options, !existsSync(anchorFile));
  let { anchored, head } = await readEnds(options, keys);
  // Another process may have begun the chain in between.
  if (anchored === undefined && head.count > 0) ({ anchored, head } = await readEnds(options, keys));
  await checkAnchor(store, keys, head, anchored);
  if (anchored === undefined) makeAnchorFile(anchorFile, keys, head);
  const anchor = openAnchor(anchorFile, keys);
  const appender = createAppender({ log: store.log, keys, anchor }, head);
  return {
    append: appender.append,
    ...toSealer(keys),
    digest: (value) => `hmac-sha256:${keys.digest(toCanonicalJson(value))}`,
    async close() {
      await appender.close();
      await anchor.close();
    },
  };
}

/** What the anchor says, and then what the store says: it may only be more. */
async function readEnds(
  { store, anchorFile }: AuditOptions,
  keys: AuditKeys,
): Promise<{ readonly anchored: ReturnType<typeof readAnchor>; readonly head: AuditHead }> {
  const anchored = readAnchor(anchorFile, keys);
  return { anchored, head: await readHead({ log: store.log, keys }) };
}

/** Refuses to go on behind an end that was tampered with: what follows would hide it. */
async function checkAnchor(
  store: Store,
  keys: AuditKeys,
  head: AuditHead,
  anchored: ReturnType<typeof readAnchor>,
): Promise<void> {
  if (anchored === "foreign") throw broken(head.count, "the anchor was changed, or was made with another key");
  if (anchored === undefined) {
    if (head.count > 0) throw broken(head.count, "there is no anchor that says whether it is the last one");
    return;
  }
  if (anchored.count > head.count) throw broken(head.count + 1, "the end of the chain was cut off");
  if (anchored.count === 0) return;
  const [entry] = await store.log.read(auditStream, { after: anchored.count - 1, limit: 1 });
  const line = entry === undefined ? undefined : readLine(keys, entry.value);
  if (line?.hash !== anchored.hash) throw broken(anchored.count, "it is not the one that the anchor knows");
}

function broken(position: number, problem: string): KitbagError {
  return new KitbagError("audit-broken", { position, problem });
}

/** Appends entries to the chain. */
export interface AuditAppender {
  /** Resolves when the entry is on disk, and the head of the chain behind it in the second place. */
  append(entry: AuditEntry): Promise<void>;
  /** Waits for what was appended. */
  close(): Promise<void>;
}

/** Makes the appender. Entries of one tick are written together; each holds the hash of the entry before it. */
export function createAppender(parts: WriterParts, start: AuditHead): AuditAppender {
  const writeChain = createWrite(parts, start);
  let isClosed = false;
  let last: Promise<void> = Promise.resolve();
  const recorder = new Recorder<JsonObject, void>({
    async write(recordings) {
      const after = await writeChain(recordings.map(({ item }) => item));
      // Before any caller is answered: an end that is cut off later is missed there.
      parts.anchor?.write(after);
      for (const { resolve } of recordings) resolve();
    },
  });

  return {
    async append(entry) {
      if (isClosed) throw new KitbagError("store-closed", { operation: "audit.append" });
      // Copied here, so that an entry that cannot be kept fails alone.
      last = recorder.append(toOpenEntry(entry));
      return last;
    },
    async close() {
      isClosed = true;
      await last.catch(() => {});
    },
  };
}

/** What the chain is kept in, and its keys. */
interface ChainParts {
  readonly log: LogStore;
  readonly keys: AuditKeys;
}

/** What the chain is written with. */
interface WriterParts extends ChainParts {
  readonly anchor: Anchor | undefined;
}

/** Writes these entries, and answers with the head behind them. Only one at a time. */
type WriteChain = (entries: readonly JsonObject[]) => Promise<AuditHead>;

/** How often another process may append first before the append fails. */
const maxAttempts = 100;

/** Makes the writer: each append expects a position, and is repeated if another process appended first. */
function createWrite(parts: WriterParts, start: AuditHead): WriteChain {
  let head = start;
  let isCertain = true;
  return async (entries) => {
    for (let attempt = 1; ; attempt++) {
      const before = isCertain ? head : await readLonger(parts, head);
      // What went wrong must be looked up before anything follows it.
      isCertain = false;
      let after = before;
      const lines = entries.map((entry) => {
        const linked = linkLine(parts.keys, after, entry);
        after = linked.head;
        return linked.line;
      });
      try {
        await parts.log.append(auditStream, lines, { expectedPosition: before.count });
        isCertain = true;
        head = after;
        return after;
      } catch (cause) {
        if (!isKitbagError(cause, "store-conflict") || attempt === maxAttempts) throw cause;
      }
    }
  };
}

/**
 * The head of the chain as it is in the store.
 *
 * @throws {KitbagError} `audit-broken` if its last entry was not made with the key.
 */
async function readHead({ log, keys }: ChainParts): Promise<AuditHead> {
  for (;;) {
    const position = await log.position(auditStream);
    if (position === 0) return emptyHead;
    const [entry, newer] = await log.read(auditStream, { after: position - 1, limit: 2 });
    // Otherwise another process appended in between: read again.
    if (newer === undefined) return checkHead(keys, position, entry?.value);
  }
}

/** The head as it is in the store, which is at least as far as it was, and as the anchor knew before. */
async function readLonger(parts: WriterParts, known: AuditHead): Promise<AuditHead> {
  const least = parts.anchor?.reach(known.count) ?? known.count;
  return checkLength(least, await readHead(parts));
}

/** Refuses to append to a chain whose end was cut off: once it is as long as before, the cut could no longer be detected. */
function checkLength(least: number, found: AuditHead): AuditHead {
  if (found.count >= least) return found;
  throw new KitbagError("audit-broken", { position: found.count + 1, problem: "the end of the chain was cut off" });
}

function checkHead(keys: AuditKeys, position: number, last: JsonValue | undefined): AuditHead {
  if (position === 0) return emptyHead;
  const line = readLine(keys, last);
  if (line?.position === position) return toHead(line);
  const problem = "the last entry was changed, or was made with another key";
  throw new KitbagError("audit-broken", { position, problem, isChainBroken: true });
}
