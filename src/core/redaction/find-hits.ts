import { alphanumerics, kindOf } from "./characters.ts";
import { startOfLocal } from "./match-email.ts";
import { rules, type RedactionKind, type Rule } from "./rules.ts";
import type { Hit, Scan } from "./scan.ts";

/** What a pattern found, and its name. */
export interface NamedHit extends Hit {
  readonly label: string;
}

/** The patterns by the character that they are tried at. */
export interface RuleTable {
  readonly atWord: Rows;
  /** Only those that are tried inside a word, too. */
  readonly anywhere: Rows;
}

type Rows = readonly (readonly TableRow[] | undefined)[];

interface TableRow extends Rule {
  readonly label: string;
  /** The code of the character that must follow; 0 if any may. */
  readonly next: number;
}

/** Makes the table of the patterns of some kinds. */
export function toRuleTable(kinds: readonly RedactionKind[]): RuleTable {
  const chosen = rules.filter(({ kind }) => kinds.includes(kind));
  return { atWord: toRows(chosen), anywhere: toRows(chosen.filter(({ atWord }) => !atWord)) };
}

function toRows(chosen: readonly Rule[]): Rows {
  const rows: (TableRow[] | undefined)[] = Array.from({ length: 128 }, () => undefined);
  for (const rule of chosen) {
    const next = rule.then === undefined ? 0 : rule.then.charCodeAt(0);
    const row: TableRow = { ...rule, label: `[${rule.name}]`, next };
    for (const character of rule.at) (rows[character.charCodeAt(0)] ??= []).push(row);
  }
  return rows;
}

/**
 * Finds what is to be replaced from `from` on, in order and apart from each other, and adds it to `hits`. Answers up to where
 * the text is decided: all of it, unless more is to come.
 */
export function findHits(scan: Scan, from: number, table: RuleTable, hits: NamedHit[]): number {
  const { text } = scan;
  let isInWord = !scan.isWordStart(from);
  // Behind an escape a word may begin in the middle of letters.
  let escapeAt = from;
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const isWord = !isInWord || (index - escapeAt <= 3 && scan.isWordStart(index));
    const rows = code < 128 ? (isWord ? table.atWord : table.anywhere)[code] : undefined;
    if (rows !== undefined) {
      const hit = tryRows(scan, index, rows);
      if (hit !== undefined) {
        // What is before it may begin an e-mail address that it is a part of.
        if (hit.end === Infinity) return startOfLocal(scan, hit.start);
        hits.push(hit);
        scan.free = hit.end;
        isInWord = !scan.isWordStart(hit.end);
        escapeAt = hit.end;
        index = hit.end - 1;
        continue;
      }
    }
    isInWord = (kindOf(code) & alphanumerics) !== 0;
    if (code === 0x5c || code === 0x25) escapeAt = index;
  }
  // What may become the beginning of an e-mail address.
  return scan.isWhole ? text.length : startOfLocal(scan, text.length);
}

function tryRows(scan: Scan, index: number, rows: readonly TableRow[]): NamedHit | undefined {
  const { text } = scan;
  // At the end of what there is, anything may follow.
  const next = index + 1 < text.length ? text.charCodeAt(index + 1) : 0;
  for (const row of rows) {
    if (row.next !== 0 && next !== 0 && row.next !== next) continue;
    const hit = row.match(scan, index);
    if (hit !== undefined) return { start: hit.start, end: hit.end, label: row.label };
  }
  return undefined;
}
