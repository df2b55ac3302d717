import type { RedactedStream } from "../redactor.ts";
import { alphanumerics, kindOf, type Hit, lookBehind, Scan } from "./scan.ts";
import { startOfLocal } from "./match-identities.ts";
import { isSecretName } from "./match-secrets.ts";
import { type JsonRedaction, redactJson } from "./redact-json.ts";
import { type RedactionKind, type Rule, rules } from "./rules.ts";

/** Takes out what looks like a secret or like personal data. */
export interface PatternRedactor {
  text(text: string): string;
  /** Like `text`, for a short one that comes again and again. */
  name(text: string): string;
  value<Value>(value: Value): Value;
  stream(): RedactedStream;
}

/** The kinds that are looked for by default. */
export const defaultKinds: readonly RedactionKind[] = ["credentials", "personal"];

/** All kinds there are: those behind the first two raise more false alarms, and are looked for only where they are named. */
export const allKinds: readonly RedactionKind[] = [...defaultKinds, "national-id", "passport", "ip"];

const made = new Map<string, PatternRedactor>();

/** The redactor for some kinds, made once. */
export function patternRedactor(kinds: readonly RedactionKind[]): PatternRedactor {
  const key = allKinds.filter((kind) => kinds.includes(kind)).join();
  const known = made.get(key) ?? createPatternRedactor(kinds);
  made.set(key, known);
  return known;
}

function createPatternRedactor(kinds: readonly RedactionKind[]): PatternRedactor {
  const table = toRuleTable(kinds);
  const text = (given: string): string => {
    if (given.length < shortestHit) return given;
    const hits: NamedHit[] = [];
    findHits(new Scan(given, true, 0), 0, table, hits);
    return hits.length === 0 ? given : replaceHits(given, hits, 0, given.length);
  };
  const findKey = createKeys(text);
  // Only numbers of cards and of persons are kept as numbers, and have so many digits.
  const least = kinds.includes("national-id") ? shortestId : shortestCard;
  const redaction: JsonRedaction = {
    text,
    key: (key) => findKey(key).shown,
    number(number) {
      if (number < least) return number;
      const shown = text(String(number));
      return shown === String(number) ? number : shown;
    },
    // A text whose key says that it is a secret is one, whatever it looks like.
    ...(kinds.includes("credentials") && {
      named: (key, value) => (value !== "" && findKey(key).isSecret ? "[secret]" : undefined),
    }),
  };
  return {
    text,
    name: (name) => findKey(name).shown,
    value: (value) => redactJson(value, redaction) as typeof value,
    stream: () => createStream(table),
  };
}

interface KnownKey {
  readonly shown: string;
  /** Whether it says that its value is a secret. */
  readonly isSecret: boolean;
}

const mostKeys = 1000;
const longestKey = 64;

/** The same few keys and names come again and again: what was found out about them is kept. */
function createKeys(text: (text: string) => string): (key: string) => KnownKey {
  const keys = new Map<string, KnownKey>();
  return (key) => {
    const known = keys.get(key);
    if (known !== undefined) return known;
    const found = { shown: text(key), isSecret: isSecretName(key) };
    if (keys.size < mostKeys && key.length <= longestKey) keys.set(key, found);
    return found;
  };
}

const shortestCard = 1e12;
const shortestId = 1e9;
/** Nothing that is found is shorter: `a@b.co`. */
const shortestHit = 6;

function replaceHits(text: string, hits: readonly NamedHit[], from: number, to: number): string {
  let shown = "";
  let next = from;
  for (const { start, end, label } of hits) {
    shown += text.slice(next, start) + label;
    next = end;
  }
  return shown + text.slice(next, to);
}

function createStream(table: RuleTable): RedactedStream {
  /** What was shown last, for what is decided by what is before it, and what is held back. */
  let kept = "";
  let shown = 0;
  let free = 0;

  function take(piece: string, isWhole: boolean): string {
    const text = kept + piece;
    const hits: NamedHit[] = [];
    const scan = new Scan(text, isWhole, free);
    const decided = findHits(scan, shown, table, hits);
    const answer = replaceHits(text, hits, shown, decided);
    const forgotten = Math.max(0, decided - lookBehind);
    kept = text.slice(forgotten);
    shown = decided - forgotten;
    free = Math.max(0, scan.free - forgotten);
    return answer;
  }

  return {
    push: (piece) => take(piece, false),
    flush() {
      const rest = take("", true);
      kept = "";
      shown = 0;
      free = 0;
      return rest;
    },
  };
}

/** What a pattern found, and its name. */
interface NamedHit extends Hit {
  readonly label: string;
}

/** The patterns by the character that they are tried at. */
interface RuleTable {
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
function toRuleTable(kinds: readonly RedactionKind[]): RuleTable {
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
function findHits(scan: Scan, from: number, table: RuleTable, hits: NamedHit[]): number {
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
