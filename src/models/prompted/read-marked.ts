import { jsonrepair } from "jsonrepair";

import { toCallDrafts, type CallDraft, type CallPlace, type CallStyle, type ReadCalls } from "./call-draft.ts";
import { findMark, readMark, type Mark } from "./marks.ts";
import { readCalls } from "./read-calls.ts";
import { isOver, matchAt, skipSpace, type Source } from "./source.ts";
import type { ToolIndex } from "./tool-index.ts";

/** How many marks may stand before a call, one inside the other. */
const mostOpened = 4;

/**
 * Reads the calls behind a mark, up to the mark that closes them, the next one that opens, or the end. `undefined` if what
 * follows does not look like a call: then the mark is only spoken of.
 */
export function readMarked(source: Source, mark: Mark, index: ToolIndex): ReadCalls | undefined {
  const place: CallPlace = { index, style: mark.style, isMarked: true };
  const drafts: CallDraft[] = [];
  let next = mark.end;
  let end = mark.end;
  for (let opened = 0; ;) {
    next = skipBetween(source, next, drafts.length > 0);
    const isEnd = isOver(source, next);
    const found = readMark(source, next);
    if (found?.role === "open" && drafts.length === 0 && opened < mostOpened) {
      opened += 1;
      next = found.end;
      continue;
    }
    if (isEnd || found !== undefined) return finish(drafts, found, next);
    const read = readCalls(source, next, place);
    if (read === "none" && drafts.length > 0) return { drafts, end };
    if (read === "none" && !isKeyed(source, next)) return undefined;
    if (typeof read === "string" || isDoubtful(source, next, read)) {
      // Calls that were read stay, whatever is behind them.
      const rest = readOtherwise(source, next, place);
      return { ...rest, drafts: [...drafts, ...rest.drafts] };
    }
    drafts.push(...read.drafts.map((draft) => withStyle(draft, mark.style)));
    next = read.end;
    end = read.end;
  }
}

/** Calls that were written with tags of their own keep the style of those. */
function withStyle(draft: CallDraft, style: CallStyle): CallDraft {
  return draft.style === "expression" || draft.style === "json" ? { ...draft, style } : draft;
}

/** Ends at the mark that closes the calls, before one that opens others, or with the text. A tag must be closed, a token need not. */
function finish(drafts: readonly CallDraft[], mark: Mark | undefined, at: number): ReadCalls | undefined {
  if (drafts.length === 0) return undefined;
  if (mark !== undefined && mark.role !== "open") return { drafts, end: mark.end };
  const told = drafts.map((draft) =>
    draft.style === "tool-call" ? { ...draft, repairs: [...draft.repairs, "the closing tag was missing"] } : draft,
  );
  return { drafts: told, end: at };
}

/** A call in a format that is not read, like YAML: its first line gives the name. */
const keyed = /(?:name|tool|tool_name|function)\s{0,4}[:=]\s{0,4}["']?([\w./:-]{1,100})/iuy;

function isKeyed(source: Source, at: number): boolean {
  const head = source.text.slice(at, at + 8).toLowerCase();
  // Text that cannot be a key need not wait for more.
  if (!["name", "tool", "function"].some((word) => head.startsWith(word) || word.startsWith(head))) return false;
  return matchAt(source, at, keyed, 130) !== null && findMark(source, at) < source.text.length;
}

/** Skips white space and the beginning of a fence; behind a call, what may be left over of it: brackets, commas, the end of a fence. */
function skipBetween(source: Source, at: number, isBehindCall: boolean): number {
  let next = skipSpace(source, at);
  if (!isBehindCall && !/^(?:```|~~~)/u.test(source.text.slice(next, next + 3))) return next;
  const pattern = isBehindCall ? /[}\]),;`~\s]/u : /[`~a-zA-Z_]/u;
  const most = isBehindCall ? Infinity : next + 32;
  while (!isOver(source, next) && pattern.test(source.text.charAt(next)) && next < most) next += 1;
  return skipSpace(source, next);
}

/** Tells whether what was read was guessed, and the guess was wrong. */
function isDoubtful(source: Source, at: number, { drafts, end }: ReadCalls): boolean {
  const mark = (): number => findMark(source, at);
  // Quotes inside a text were guessed, and a mark is inside it, or more than a mark behind it.
  if (drafts.some((draft) => draft.repairs.includes("quotes inside a text were escaped"))) {
    if (mark() < end) return true;
    const next = skipBetween(source, end, true);
    if (!isOver(source, next) && readMark(source, next) === undefined) return true;
  }
  // A text that was not closed took the closing mark with it: nothing was cut off. If a mark that opens comes first, the text may be
  // about calls, and was cut off.
  if (!drafts.some((draft) => draft.isCut)) return false;
  return mark() < source.text.length && readMark(source, mark())?.role !== "open";
}

/** The longest text that is given to the repair of last resort. */
const longestRepair = 20_000;

/** What cannot be read is a mistake, unless the repair of last resort makes something of it. */
function readOtherwise(source: Source, at: number, place: CallPlace): ReadCalls {
  const end = findMark(source, at);
  const text = source.text.slice(at, end);
  const closing = isOver(source, end) ? undefined : readMark(source, end);
  const after = closing !== undefined && closing.role !== "open" ? closing.end : end;
  // A quote that is missing may be missing anywhere.
  const isEven = (quote: RegExp): boolean => (text.match(quote) ?? []).length % 2 === 0;
  const isWhole = isEven(/(?<!\\)"/gu) && (!/[{[:,]\s*'/u.test(text) || isEven(/(?<!\\)'/gu));
  const drafts = isWhole && text.length <= longestRepair && end < source.text.length ? repair(text, place) : undefined;
  if (drafts !== undefined) return { drafts, end: after };
  const quoted = /["'](?:name|tool|function)["']\s{0,8}:\s{0,8}["']([^"'\n]{1,100})["']/u.exec(text.slice(0, 1000));
  const name = (quoted ?? matchAt(source, at, keyed, 130))?.[1];
  return { drafts: [], end: after, unreadable: name === undefined ? {} : { name } };
}

/** The last resort. What it makes is only taken if each of its texts stands in what the model wrote, and is a plain one. */
function repair(text: string, place: CallPlace): CallDraft[] | undefined {
  // A word without quotes at the end may be a part of one.
  if (!/^\s*[{[]/u.test(text) || /[\w.+-]\s*$/u.test(text)) return undefined;
  let isPlain = true;
  try {
    const value = JSON.parse(jsonrepair(text), (key, inner: unknown) => {
      const leaf = toNoNumber(text, inner);
      isPlain &&= standsIn(text, leaf) && (/^\d*$/u.test(key) || standsIn(text, key));
      return leaf;
    }) as unknown;
    const repairs = ["what was not JSON was repaired"];
    return isPlain ? toCallDrafts({ value, end: text.length, repairs, incomplete: new Map() }, place) : undefined;
  } catch {
    return undefined;
  }
}

/** A bare `NaN` is made a text by the repair. It is no text, and no input that JSON could hold. */
function toNoNumber(text: string, value: unknown): unknown {
  if (value !== "NaN" && value !== "Infinity" && value !== "-Infinity") return value;
  return new RegExp(`["']${value}["']`, "u").test(text) ? value : Number(value);
}

/** `tr` without quotes is the beginning of `true`, and no text. */
function isCutWord(text: string, leaf: string): boolean {
  const isBeginning =
    leaf !== "" && ["true", "false", "null", "none"].some((word) => word.startsWith(leaf.toLowerCase()));
  return isBeginning && !new RegExp(`["']${leaf}["']`, "u").test(text);
}

function standsIn(text: string, leaf: unknown): boolean {
  if (typeof leaf === "string") return text.includes(leaf) && !/["{}[\]\n]/u.test(leaf) && !isCutWord(text, leaf);
  if (typeof leaf === "boolean" || leaf === null)
    return new RegExp(`\\b(?:${leaf === null ? "null|none" : leaf})\\b`, "iu").test(text);
  if (typeof leaf !== "number" || !Number.isFinite(leaf)) return true;
  return (text.match(/[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?/giu) ?? []).some((digits) => Number(digits) === leaf);
}
