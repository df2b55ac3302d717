import { toCanonicalJson } from "../../core/canonical-json.ts";
import type { JsonValue } from "../../core/json.ts";
import { readLine } from "./audit-chain.ts";
import type { AuditHead, AuditLine } from "./audit-entry.ts";
import type { AuditKeys } from "./audit-keys.ts";

/** The hash of nothing. */
export const noRemains = "0".repeat(64);

/** So many entries behind a bad one are looked at to find out what was done. */
const lookAhead = 1000;

/** What is behind the good entries of a chain. */
interface Remains {
  /** The entry that sets it aside, if somebody decided so: it follows the good ones, and knows all that is in between. */
  readonly end?: AuditLine;
  /** Some of what is behind the first one. */
  readonly ahead: readonly unknown[];
  /** A keyed hash of all before `end`. */
  readonly remains: string;
}

/** Reads on behind the good entries, from `first` to what sets it aside, or to the end. */
export async function readRemains(
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
export function isSetAside(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value && value.type === "set-aside";
}

/** No line of an anchor and no end of an export can stand in for it: they begin otherwise. */
function addRemains(keys: AuditKeys, before: string, value: unknown): string {
  return keys.anchor(`remains ${before} ${toCanonicalJson(value as JsonValue)}`);
}
