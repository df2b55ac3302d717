import { jsonrepair } from "jsonrepair";

import type { CallDraft, CallStyle, ReadCalls } from "./call-draft.ts";
import { toCallDrafts } from "./json-calls.ts";
import { findMark, readMark, type Mark } from "./marks.ts";
import { readCalls, type CallPlace } from "./read-calls.ts";
import { isOver, matchAt, skipSpace, type Source } from "./source.ts";
import type { ToolIndex } from "./tool-index.ts";

/** What stands where only calls can stand. */
export interface MarkedRegion {
  readonly drafts: readonly CallDraft[];
  readonly end: number;
  /** What was meant as a call and cannot be read: where, and the name it may have. */
  readonly unreadable?: { readonly start: number; readonly end: number; readonly name?: string };
}

/**
 * Reads the calls behind a mark, up to the mark that closes them, the next one that opens, or the end. `undefined` if what
 * follows does not look like a call: then the mark is only spoken of.
 */
export function readMarked(source: Source, mark: Mark, index: ToolIndex): MarkedRegion | undefined {
  const place: CallPlace = { index, style: mark.style, isMarked: true };
  const drafts: CallDraft[] = [];
  let next = mark.end;
  let end = mark.end;
  let opened = 0;
  for (;;) {
    next = skipBetween(source, next, drafts.length > 0);
    const isEnd = isOver(source, next);
    const found = isEnd ? undefined : readMark(source, next);
    if (found?.role === "open" && drafts.length === 0 && opened < mostOpened) {
      opened += 1;
      next = found.end;
      continue;
    }
    if (isEnd || found !== undefined) return finishAt(drafts, found, next);
    const read = readCalls(source, next, place);
    if (read === "none" && drafts.length > 0) return finish(drafts, end);
    if (typeof read === "string") return behind(drafts, readUnread(source, next, place, read));
    if (isDoubtful(source, next, read)) return behind(drafts, readOtherwise(source, next, place));
    drafts.push(...read.drafts.map((draft) => withStyle(draft, mark.style)));
    next = read.end;
    end = read.end;
  }
}

/** Calls that were read stay, whatever is behind them. */
function behind(drafts: readonly CallDraft[], region: MarkedRegion | undefined): MarkedRegion | undefined {
  return region && { ...region, drafts: [...drafts, ...region.drafts] };
}

/** A call in a format that is not read, like YAML: its first line gives the name. */
const keyed = /(?:name|tool|tool_name|function)\s{0,4}[:=]\s{0,4}["']?([\w./:-]{1,100})/iuy;

function isKeyed(source: Source, at: number): boolean {
  const head = source.text.slice(at, at + 8).toLowerCase();
  // Text that cannot be a key need not wait for more.
  if (!["name", "tool", "function"].some((word) => head.startsWith(word) || word.startsWith(head))) return false;
  return matchAt(source, at, keyed, 130) !== null && findMark(source, at) < source.text.length;
}

/** How many marks may stand before a call, one inside the other. */
const mostOpened = 4;

/** Calls that were written with tags of their own keep the style of those. */
function withStyle(draft: CallDraft, style: CallStyle): CallDraft {
  return draft.style === "expression" || draft.style === "json" ? { ...draft, style } : draft;
}

/** A call in a tag that was not closed. Tokens need not be. */
function withoutTag(draft: CallDraft): CallDraft {
  return draft.style === "tool-call" ? { ...draft, repairs: [...draft.repairs, "the closing tag was missing"] } : draft;
}

/** Ends at the mark that closes the calls, before one that opens others, or with the text. */
function finishAt(drafts: readonly CallDraft[], mark: Mark | undefined, at: number): MarkedRegion | undefined {
  return mark === undefined || mark.role === "open" ? finish(drafts.map(withoutTag), at) : finish(drafts, mark.end);
}

function finish(drafts: readonly CallDraft[], end: number): MarkedRegion | undefined {
  return drafts.length === 0 ? undefined : { drafts, end };
}

/** Skips white space and, behind a call, what may be left over of it: brackets, commas, the end of a fence. */
function skipBetween(source: Source, at: number, isBehindCall: boolean): number {
  let next = skipSpace(source, at);
  if (!isBehindCall && /^(?:```|~~~)/u.test(source.text.slice(next, next + 3))) {
    const start = next;
    while (next < source.text.length && /[`~a-zA-Z_]/u.test(source.text.charAt(next)) && next - start < 32) next += 1;
    isOver(source, next);
    return skipSpace(source, next);
  }
  if (!isBehindCall) return next;
  while (!isOver(source, next) && /[}\]),;`~\s]/u.test(source.text.charAt(next))) next += 1;
  return skipSpace(source, next);
}

function isDoubtful(source: Source, at: number, { drafts, end }: ReadCalls): boolean {
  return isSuspicious(source, at, { drafts, end }) || isRunaway(source, at, drafts);
}

/** Quotes inside a text were guessed, and a mark is inside it, or more than a mark behind it: the guess was wrong. */
function isSuspicious(source: Source, at: number, { drafts, end }: ReadCalls): boolean {
  if (!drafts.some((draft) => draft.repairs.includes("quotes inside a text were escaped"))) return false;
  if (findMark(source, at) < end) return true;
  const next = skipBetween(source, end, true);
  return !isOver(source, next) && readMark(source, next) === undefined;
}

/**
 * A text that was not closed took the closing mark with it: nothing was cut off. If a mark that opens comes first, the text may be
 * about calls, and was cut off.
 */
function isRunaway(source: Source, at: number, drafts: readonly CallDraft[]): boolean {
  if (!drafts.some((draft) => draft.isCut)) return false;
  const mark = findMark(source, at);
  return mark < source.text.length && readMark(source, mark)?.role !== "open";
}

/** What cannot be read is a mistake if it looks like a call at all. */
function readUnread(
  source: Source,
  at: number,
  place: CallPlace,
  read: "none" | "unreadable",
): MarkedRegion | undefined {
  return read === "unreadable" || isKeyed(source, at) ? readOtherwise(source, at, place) : undefined;
}

/** The longest text that is given to the repair of last resort. */
const longestRepair = 20_000;

function readOtherwise(source: Source, at: number, place: CallPlace): MarkedRegion {
  const end = findMark(source, at);
  const text = source.text.slice(at, end);
  const closing = isOver(source, end) ? undefined : readMark(source, end);
  const after = closing !== undefined && closing.role !== "open" ? closing.end : end;
  // A quote that is missing may be missing anywhere.
  const isEven = hasEven(text, /(?<!\\)"/gu) && (!/[{[:,]\s*'/u.test(text) || hasEven(text, /(?<!\\)'/gu));
  const drafts = isEven && text.length <= longestRepair && end < source.text.length ? repair(text, place) : undefined;
  if (drafts !== undefined) return { drafts, end: after };
  const quoted = /["'](?:name|tool|function)["']\s{0,8}:\s{0,8}["']([^"'\n]{1,100})["']/u.exec(
    text.slice(0, 1000),
  )?.[1];
  const name = quoted ?? matchAt(source, at, keyed, 130)?.[1];
  return { drafts: [], end: after, unreadable: { start: at, end, ...(name !== undefined && { name }) } };
}

function hasEven(text: string, quote: RegExp): boolean {
  return (text.match(quote) ?? []).length % 2 === 0;
}

/** The last resort. What it makes is only taken if each of its texts stands in what the model wrote, and is a plain one. */
function repair(text: string, place: CallPlace): CallDraft[] | undefined {
  if (!/^\s*[{[]/u.test(text)) return undefined;
  try {
    const value = JSON.parse(jsonrepair(text), (_, inner: unknown) => toNoNumber(text, inner)) as unknown;
    if (!leavesOf(value).every((leaf) => standsIn(text, leaf))) return undefined;
    const repairs = ["what was not JSON was repaired"];
    return toCallDrafts({ value, end: text.length, repairs, incomplete: new Map() }, place);
  } catch {
    return undefined;
  }
}

/** A bare `NaN` is made a text by the repair. It is no text, and no input that JSON could hold. */
function toNoNumber(text: string, value: unknown): unknown {
  if (value !== "NaN" && value !== "Infinity" && value !== "-Infinity") return value;
  return new RegExp(`["']${value}["']`, "u").test(text) ? value : Number(value);
}

/** The keys and the values that a value is made of. */
function leavesOf(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [value];
  return Object.entries(value).flatMap(([key, inner]) => [...(Array.isArray(value) ? [] : [key]), ...leavesOf(inner)]);
}

function standsIn(text: string, leaf: unknown): boolean {
  if (typeof leaf === "string") return text.includes(leaf) && !/["{}[\]\n]/u.test(leaf);
  if (typeof leaf !== "number")
    return new RegExp(`\\b(?:${leaf === null ? "null|none" : leaf === true})\\b`, "iu").test(text);
  if (!Number.isFinite(leaf)) return true;
  return (text.match(/[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?/giu) ?? []).some((digits) => Number(digits) === leaf);
}
