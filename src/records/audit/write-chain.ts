import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { LogStore } from "../../core/store.ts";
import type { AppendAtEnd, StreamEnd } from "../../store/append-at-end.ts";
import { emptyHead, linkLine, readLine, toHead, type OpenLine } from "./audit-chain.ts";
import { auditStream, type AuditHead } from "./audit-entry.ts";
import type { AuditKeys } from "./audit-keys.ts";
import type { Anchor } from "./anchor-file.ts";

/** What the chain is kept in, and its keys. */
export interface ChainParts {
  readonly log: LogStore;
  readonly keys: AuditKeys;
}

/** What the chain is written with. */
export interface WriterParts extends ChainParts {
  readonly anchor: Anchor | undefined;
}

/**
 * Writes the lines that `take` gives when it is called last, and answers with the head behind them. Only one at a time.
 */
export type WriteChain = (take: () => readonly OpenLine[]) => Promise<AuditHead>;

/** So often another process may be faster. */
const maxAttempts = 100;

/** Makes what writes to any log: each append is made at the expected position, and anew if another process was faster. */
export function createWrite(parts: WriterParts, start: AuditHead): WriteChain {
  let head = start;
  let isCertain = true;
  return async (take) => {
    const taken = take();
    for (let attempt = 1; ; attempt++) {
      const before = isCertain ? head : await readLonger(parts, head);
      // What went wrong must be looked up before anything follows it.
      isCertain = false;
      const { texts, after } = linkAll(parts.keys, before, taken);
      const lines = texts.map((text) => JSON.parse(text) as JsonValue);
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

/** Makes what writes to a log that lets it look at the end of the chain at the moment in which it writes. */
export function createChainedWrite(
  { keys, anchor }: Omit<WriterParts, "log">,
  { append }: AppendAtEnd,
  start: AuditHead,
): WriteChain {
  let head = start;

  /** Another process may have written, or this one although it failed. Nobody does now, so the anchor must not know more. */
  function findHead({ position, readLast }: StreamEnd): AuditHead {
    const least = Math.max(head.count, anchor?.reach(position) ?? 0);
    return checkLength(least, checkHead(keys, position, readLast()));
  }

  return async (take) => {
    let after = head;
    await append(auditStream, (end) => {
      const before = end.position === head.count ? head : findHead(end);
      const linked = linkAll(keys, before, take());
      after = linked.after;
      return { texts: linked.texts };
    });
    head = after;
    return after;
  };
}

function linkAll(
  keys: AuditKeys,
  before: AuditHead,
  open: readonly OpenLine[],
): { readonly texts: readonly string[]; readonly after: AuditHead } {
  let after = before;
  const texts = open.map((each) => {
    const { text, head } = linkLine(keys, after, each);
    after = head;
    return text;
  });
  return { texts, after };
}

/**
 * The head of the chain as it is in the store.
 *
 * @throws {KitbagError} `audit-broken` if its last entry was not made with the key.
 */
export async function readHead({ log, keys }: ChainParts): Promise<AuditHead> {
  for (;;) {
    const position = await log.position(auditStream);
    if (position === 0) return emptyHead;
    const [entry, newer] = await log.read(auditStream, { after: position - 1, limit: 2 });
    // Somebody was faster.
    if (newer === undefined) return checkHead(keys, position, entry?.value);
  }
}

/** The head as it is in the store, which is at least as far as it was, and as the anchor knew before. */
async function readLonger(parts: WriterParts, known: AuditHead): Promise<AuditHead> {
  const least = parts.anchor?.reach(known.count) ?? known.count;
  return checkLength(least, await readHead(parts));
}

/** Refuses to go on behind an end that was cut off: once the chain is as long as it was, nobody would see it. */
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
