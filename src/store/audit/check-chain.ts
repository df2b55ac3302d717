import { emptyHead, readLine, toHead } from "./audit-chain.ts";
import type { AuditHead, AuditLine } from "./audit-entry.ts";
import type { AuditKeys } from "./audit-keys.ts";

/**
 * What is wrong with a chain. `changed`: something in the entry. `removed`: one or more before it. `inserted`: the entry itself.
 * `reordered`: it stands before one that it follows. `cut-off`: the entries from there to the anchor. `rewritten`: the entry is
 * not the one that the anchor knows. `key-wrong`: nothing fits the key. `anchor-missing`: nothing says where the chain must end.
 */
export type AuditProblem =
  | "changed"
  | "removed"
  | "inserted"
  | "reordered"
  | "cut-off"
  | "rewritten"
  | "key-wrong"
  | "anchor-missing";

/** Whether a chain is as it was written. */
export type AuditVerdict =
  | {
      readonly ok: true;
      readonly count: number;
      /** Of the last entry. */
      readonly hash: string;
      /** So many entries are known to the anchor; those behind it were not acknowledged, or the power was lost just then. */
      readonly anchored?: number;
    }
  | {
      readonly ok: false;
      /** So many entries before it are good. */
      readonly count: number;
      /** The first bad one. */
      readonly position: number;
      readonly problem: AuditProblem;
    };

/** What a chain is held against. */
export interface ChainExpectations {
  readonly keys: AuditKeys;
  /** What the second place says. @default nothing is known of it */
  readonly anchor?: AuditHead | "foreign" | "missing";
}

/** So many entries behind a bad one are looked at to find out what was done. */
const lookAhead = 1000;

/** Goes through a chain, entry by entry, and stops at the first that is bad. It holds no more than a few entries in memory. */
export async function checkChain(
  values: AsyncIterable<unknown>,
  { keys, anchor }: ChainExpectations,
): Promise<AuditVerdict> {
  const known = typeof anchor === "object" ? anchor : undefined;
  const iterator = values[Symbol.asyncIterator]();
  let head = emptyHead;
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      const line = readLine(keys, next.value);
      if (line === undefined || !isNext(line, head)) {
        const ahead = await takeSome(iterator);
        return toBad(head, explain(line, { keys, head, ahead, isKeyKnown: head.count > 0 || known !== undefined }));
      }
      if (known?.count === line.position && known.hash !== line.hash) return toBad(head, "rewritten");
      head = toHead(line);
    }
  } finally {
    await iterator.return?.();
  }
  return checkEnd(head, anchor);
}

function isNext(line: AuditLine, head: AuditHead): boolean {
  return line.previous === head.hash && line.position === head.count + 1;
}

/** All entries are good: are they all there were? */
function checkEnd(head: AuditHead, anchor: ChainExpectations["anchor"]): AuditVerdict {
  if (anchor === undefined) return { ok: true, ...head };
  if (anchor === "foreign") return toBad(head, "key-wrong");
  if (anchor === "missing") return head.count > 0 ? toBad(head, "anchor-missing") : { ok: true, ...head };
  return anchor.count > head.count ? toBad(head, "cut-off") : { ok: true, ...head, anchored: anchor.count };
}

function toBad({ count }: AuditHead, problem: AuditProblem): AuditVerdict {
  return { ok: false, count, position: count + 1, problem };
}

async function takeSome(iterator: AsyncIterator<unknown>): Promise<readonly unknown[]> {
  const taken: unknown[] = [];
  while (taken.length < lookAhead) {
    const next = await iterator.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}

interface Surroundings {
  readonly keys: AuditKeys;
  /** Of the good entries before it. */
  readonly head: AuditHead;
  readonly ahead: readonly unknown[];
  readonly isKeyKnown: boolean;
}

/** Finds out what was done: `line` is the entry if it was made with the key, but does not belong here. */
function explain(line: AuditLine | undefined, { keys, head, ahead, isKeyKnown }: Surroundings): AuditProblem {
  const lines = ahead.map((value) => readLine(keys, value));
  if (line === undefined) {
    if (!isKeyKnown && lines.every((other) => other === undefined)) return "key-wrong";
    return lines[0]?.previous === head.hash ? "inserted" : "changed";
  }
  if (line.position <= head.count) return "inserted";
  if (line.position === head.count + 1) return "changed";
  return lines.some((other) => other?.position === head.count + 1) ? "reordered" : "removed";
}
