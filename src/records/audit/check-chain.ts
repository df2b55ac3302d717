import { type JsonValue, toCanonicalJson } from "../../core/json.ts";
import {
  type AuditHead,
  type AuditLine,
  type AuditProblem,
  type AuditSetAside,
  emptyHead,
  readLine,
  toHead,
} from "./audit-entry.ts";
import type { AuditKeys } from "./audit-keys.ts";

/**
 * Whether a chain is as it was written. What is wrong: `changed`: something in the entry. `removed`: one or more before it.
 * `inserted`: the entry itself. `reordered`: it stands before one that it follows. `cut-off`: the entries from there to the anchor.
 * `rewritten`: the entry differs from the anchored one. `key-wrong`: it and all later entries were made with another key.
 * `anchor-missing`: nothing says where the chain must end.
 */
export type AuditVerdict =
  | {
      /** Also if a part of it was broken, and set aside since: see `setAside`. */
      readonly ok: true;
      readonly count: number;
      /** Of the last entry. */
      readonly hash: string;
      /** How many entries the anchor covers. Later entries were not acknowledged, or the power failed before the anchor was written. */
      readonly anchored?: number;
      /** Each place where the chain was broken and was continued by decision of an operator. */
      readonly setAside?: readonly SetAsideLine[];
    }
  | {
      readonly ok: false;
      /** How many entries before the first bad one are good. */
      readonly count: number;
      /** The first bad one. */
      readonly position: number;
      readonly problem: AuditProblem;
    };

type SetAsideLine = Extract<AuditLine, AuditSetAside>;

/** What a chain is held against. */
export interface ChainExpectations {
  readonly keys: AuditKeys;
  /** What the second place says. @default nothing is known of it */
  readonly anchor?: AuditHead | "foreign" | "missing";
}

/** Goes through a chain, entry by entry, and stops at the first that is bad. It holds no more than a few entries in memory. */
export async function checkChain(
  values: AsyncIterable<unknown>,
  expectations: ChainExpectations,
): Promise<AuditVerdict> {
  return (await walkChain(values, expectations)).verdict;
}

/** How far a chain goes. */
export interface ChainWalk {
  readonly verdict: AuditVerdict;
  /** Of the good entries. */
  readonly head: AuditHead;
  /** A keyed hash of all behind them. */
  readonly remains: string;
}

/** The same, with what is needed to go on behind a chain that is broken. */
export async function walkChain(
  values: AsyncIterable<unknown>,
  { keys, anchor }: ChainExpectations,
): Promise<ChainWalk> {
  const known = typeof anchor === "object" ? anchor : undefined;
  const iterator = values[Symbol.asyncIterator]();
  const setAside: SetAsideLine[] = [];
  let head = emptyHead;
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      let line = readLine(keys, next.value);
      if (line === undefined || !isNext(line, head)) {
        const { end, ahead, remains } = await readRemains(iterator, { first: next.value, keys, head });
        if (end === undefined) {
          const isKeyKnown = head.count > 0 || known !== undefined;
          return {
            verdict: toBad(head, explain(line, { keys, head, value: next.value, ahead, isKeyKnown })),
            head,
            remains,
          };
        }
        line = end;
      }
      if (known?.count === line.position && known.hash !== line.hash) {
        return { verdict: toBad(head, "rewritten"), head, remains: noRemains };
      }
      if (line.type === "set-aside") setAside.push(line);
      head = toHead(line);
    }
  } finally {
    await iterator.return?.();
  }
  const verdict = checkEnd(head, anchor);
  return { verdict: verdict.ok && setAside.length > 0 ? { ...verdict, setAside } : verdict, head, remains: noRemains };
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

interface Surroundings {
  readonly keys: AuditKeys;
  /** Of the good entries before it. */
  readonly head: AuditHead;
  /** The entry itself, as it is kept. */
  readonly value: unknown;
  readonly ahead: readonly unknown[];
  readonly isKeyKnown: boolean;
}

/** Finds out what was done: `line` is the entry if it was made with the key, but does not belong here. */
function explain(line: AuditLine | undefined, { keys, head, value, ahead, isKeyKnown }: Surroundings): AuditProblem {
  const lines = ahead.map((value) => readLine(keys, value));
  if (line === undefined) {
    // With another key a program goes on only behind an entry that sets all before it aside.
    const isOfOther = !isKeyKnown || isSetAside(value);
    if (isOfOther && lines.every((other) => other === undefined)) return "key-wrong";
    return lines[0]?.previous === head.hash ? "inserted" : "changed";
  }
  if (line.position <= head.count) return "inserted";
  if (line.position === head.count + 1) return "changed";
  return lines.some((other) => other?.position === head.count + 1) ? "reordered" : "removed";
}

/** The hash of nothing. */
const noRemains = "0".repeat(64);

/** How many entries after a bad one are read to find out what was done to the chain. */
const lookAhead = 1000;

/** What is behind the good entries of a chain. */
interface Remains {
  /** The entry that sets the broken part aside, if it was: it follows the good entries, and covers everything in between. */
  readonly end?: AuditLine;
  /** Some of what follows the first one. */
  readonly ahead: readonly unknown[];
  /** A keyed hash of all before `end`. */
  readonly remains: string;
}

/** Reads on behind the good entries, from `first` to what sets it aside, or to the end. */
async function readRemains(
  iterator: AsyncIterator<unknown>,
  { first, keys, head }: { readonly first: unknown; readonly keys: AuditKeys; readonly head: AuditHead },
): Promise<Remains> {
  const ahead: unknown[] = [];
  let remains = addRemains(keys, noRemains, first);
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    const end = isSetAside(next.value) ? readLine(keys, next.value) : undefined;
    if (end?.type === "set-aside" && end.previous === head.hash && end.remains === remains) {
      return { end, ahead, remains };
    }
    if (ahead.length < lookAhead) ahead.push(next.value);
    remains = addRemains(keys, remains, next.value);
  }
  return { ahead, remains };
}

/** Tells whether an entry looks as if it set others aside, with whatever key. */
function isSetAside(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value && value.type === "set-aside";
}

/** No line of an anchor and no end of an export can stand in for it: they begin otherwise. */
function addRemains(keys: AuditKeys, before: string, value: unknown): string {
  return keys.anchor(`remains ${before} ${toCanonicalJson(value as JsonValue)}`);
}
