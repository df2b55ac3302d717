import { digits, kindOf } from "./characters.ts";
import { undecided, type Hit, type Scan } from "./scan.ts";
import type { TokenRow } from "./token-rows.ts";

/** Nothing longer is taken for a key: a text that comes in pieces would be held back for ever. */
export const longestToken = 4096;

/** Finds a key that begins with `prefix` at `index` and looks as `row` says. */
export function matchToken(scan: Scan, index: number, prefix: string, row: TokenRow): Hit | undefined {
  const begins = scan.startsWith(prefix, index);
  if (begins === undefined) return undecided(index);
  if (!begins) return undefined;
  const start = index + prefix.length;
  const end = scan.runEnd(row.set, start);
  const length = end - start;
  if (length > (row.max ?? longestToken)) return undefined;
  if (scan.isOpen(end)) return undecided(index);
  if (length < row.min) return undefined;
  return hasDigits(scan.text.slice(start, Math.min(end, start + 64)), row.digits ?? 0)
    ? { start: index, end }
    : undefined;
}

/** A key is not made of words: it has digits near its beginning. */
function hasDigits(text: string, count: number): boolean {
  let found = 0;
  for (let index = 0; found < count && index < text.length; index++) {
    if ((kindOf(text.charCodeAt(index)) & digits) !== 0) found += 1;
  }
  return found >= count;
}
