import type { RedactedStream } from "../redactor.ts";
import { findHits, toRuleTable, type NamedHit, type RuleTable } from "./find-hits.ts";
import { isSecretName } from "./match-secrets.ts";
import { redactJson, type JsonRedaction } from "./redact-json.ts";
import type { RedactionKind } from "./rules.ts";
import { lookBehind, Scan } from "./scan.ts";

/** Takes out what looks like a secret or like personal data. */
export interface PatternRedactor {
  text(text: string): string;
  /** Like `text`, for a short one that comes again and again. */
  name(text: string): string;
  value<Value>(value: Value): Value;
  stream(): RedactedStream;
}

/** The kinds that are looked for unless somebody chooses. */
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
