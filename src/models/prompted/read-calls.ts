import type { CallStyle, ReadCalls } from "./call-draft.ts";
import { toCallDrafts, toInput } from "./json-calls.ts";
import { readMark } from "./marks.ts";
import { readBody, readElement } from "./read-element.ts";
import { readExpression } from "./read-expression.ts";
import { parseStrictly, readJson } from "./read-json.ts";
import { isQuote, readString } from "./read-string.ts";
import { isOver, matchAt, skipSpace, startsWith, type Source } from "./source.ts";
import type { ToolIndex } from "./tool-index.ts";

/** Where calls are looked for. */
export interface CallPlace {
  readonly index: ToolIndex;
  /** The style to report for a call in JSON. */
  readonly style: CallStyle;
  /** Whether only calls may appear here, so that any other text is a mistake and not prose. */
  readonly isMarked: boolean;
}

/** What is at a place: calls, nothing that is a call, or something that begins like one and cannot be read. */
export type CallRead = ReadCalls | "none" | "unreadable";

/** Reads what begins at `at` as a call, or as a list of calls, in any of the ways to write one. */
export function readCalls(source: Source, at: number, place: CallPlace): CallRead {
  const character = source.text.charAt(at);
  if (character === "{") return readJsonCalls(source, at, place);
  if (character === "[") return readExpressions(source, at, place) ?? readJsonCalls(source, at, place);
  if (isQuote(character) && place.isMarked) return readEncoded(source, at, place);
  if (character === "<") return readElement(source, at, place.index) ?? "none";
  return readNamed(source, at, place);
}

function readJsonCalls(source: Source, at: number, place: CallPlace): CallRead {
  const read = readJson(source, at);
  if (!read.ok) return "unreadable";
  const drafts = toCallDrafts(read, place);
  return drafts === undefined ? "unreadable" : { drafts, end: read.end };
}

/** JSON that was written as a text: `"{\"name\": …}"`. */
function readEncoded(source: Source, at: number, place: CallPlace): CallRead {
  const { value, end, isCut } = readString(source, at, "top");
  const inner = isCut ? undefined : parseStrictly(value.trim());
  if (typeof inner !== "object" || inner === null) return "unreadable";
  const drafts = toCallDrafts(
    { value: inner, end, repairs: ["JSON that was written as a text was read"], incomplete: new Map() },
    place,
  );
  return drafts === undefined ? "unreadable" : { drafts, end };
}

const listStart = /\[\s{0,16}([A-Za-z_][\w.-]{0,120})\s{0,4}\(/uy;

/** `[get_weather(city="Paris"), get_time(zone="CET")]` */
function readExpressions(source: Source, at: number, place: CallPlace): ReadCalls | undefined {
  const match = matchAt(source, at, listStart, 160);
  if (match === null || place.index.find(String(match[1])) === undefined) return undefined;
  const drafts = [];
  let next = at + 1;
  for (;;) {
    next = skipSpace(source, next);
    const read = readNamed(source, next, { ...place, isMarked: false });
    if (typeof read === "string") return undefined;
    drafts.push(...read.drafts);
    next = skipSpace(source, read.end);
    if (isOver(source, next) || source.text.charAt(next) !== ",") break;
    next += 1;
  }
  return { drafts, end: source.text.charAt(next) === "]" ? next + 1 : next };
}

const nameAt = /(?:function\s{0,4}<｜tool▁sep｜>)?([A-Za-z_][\w./:-]{0,160})/uy;

/** A name, and its values in brackets, as JSON or between tags behind it. */
export function readNamed(source: Source, at: number, place: CallPlace): CallRead {
  const match = matchAt(source, at, nameAt, 200);
  const name = match === null ? "" : toName(String(match[1]));
  const tool = place.index.find(name);
  if (match === null || (tool === undefined && !place.isMarked)) return "none";
  const next = at + match[0].length;
  if (source.text.charAt(next) === "(" && tool !== undefined) {
    return readExpression(source, next, tool, name) ?? (place.isMarked ? "unreadable" : "none");
  }
  if (!place.isMarked) return "none";
  const style = place.style === "json" ? "token" : place.style;
  return readBehindName(source, skipSeparators(source, next), { ...place, style, name });
}

/** A name without what models put around it: `functions.get_weather:0`, `get_weather.call`. */
function toName(written: string): string {
  return written
    .replace(/:\d*$/u, "")
    .replace(/\.call$/u, "")
    .replace(/[.:]$/u, "")
    .replace(/^functions?\./u, "");
}

interface NamedPlace extends CallPlace {
  readonly name: string;
}

function readBehindName(source: Source, at: number, place: NamedPlace): CallRead {
  const { name, style, index } = place;
  const tool = index.find(name);
  const bare = { name, input: {}, style, repairs: [] };
  if (isOver(source, at)) return tool === undefined ? "none" : { drafts: [{ ...bare, isCut: true }], end: at };
  if (source.text.charAt(at) === "{") return readNamedJson(source, at, place);
  if (startsWith(source, at, "<arg_key>")) return readBody(source, at, { name, style, tool }) ?? "unreadable";
  if (tool === undefined || readMark(source, at) === undefined) return "none";
  return { drafts: [{ ...bare, isCut: false }], end: at };
}

function readNamedJson(source: Source, at: number, { index, style, name }: NamedPlace): CallRead {
  const read = readJson(source, at);
  if (!read.ok || typeof read.value !== "object" || read.value === null) return "unreadable";
  const repairs = [...read.repairs];
  const input = toInput(read.value, index.find(name), repairs);
  return { drafts: [{ name, input, style, repairs, isCut: read.incomplete.has(read.value) }], end: read.end };
}

const fence = /(?:`{3,}|~{3,})[a-z]{0,12}/uy;
const callId = /[\w-]{1,64}/uy;

/** Skips what stands between a name and its values: white space, tokens, a fence, a colon. */
function skipSeparators(source: Source, at: number): number {
  let next = at;
  for (let count = 0; count < 8; count++) {
    next = skipSpace(source, next);
    if (isOver(source, next)) return next;
    const mark = readMark(source, next);
    const character = source.text.charAt(next);
    if (mark?.role === "separator") {
      const isId = source.text.startsWith("[CALL_ID]", next);
      next = mark.end;
      if (isId) next += matchAt(source, next, callId, 66)?.[0].length ?? 0;
    } else if (character === "`" || character === "~") next += matchAt(source, next, fence, 32)?.[0].length ?? 1;
    else if (character === ":") next += 1;
    else return next;
  }
  return next;
}
