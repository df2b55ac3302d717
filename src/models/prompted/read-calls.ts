import {
  readObject,
  toCallDrafts,
  type CallDraft,
  type CallOwner,
  type CallPlace,
  type ReadCalls,
} from "./call-draft.ts";
import { readMark } from "./marks.ts";
import { readBody, readElement } from "./read-element.ts";
import { isQuote, readString } from "./read-string.ts";
import { LenientReader, parseStrictly, readJson, setOwn } from "./read-value.ts";
import { isOver, matchAt, mostRunaways, needMore, skipSpace, startsWith, unreadable, type Source } from "./source.ts";
import { propertiesOf, singleProperty, type CallableTool } from "./tool-index.ts";

/** What is at a place: calls, nothing that is a call, or something that begins like one and cannot be read. */
export type CallRead = ReadCalls | "none" | "unreadable";

/** Reads what begins at `at` as a call, or as a list of calls, in any of the ways to write one. */
export function readCalls(source: Source, at: number, place: CallPlace): CallRead {
  const character = source.text.charAt(at);
  if (character === "<") return readElement(source, at, place.index) ?? "none";
  if (isQuote(character) && place.isMarked) return readEncoded(source, at, place);
  const calls = character === "[" ? readExpressions(source, at, place) : undefined;
  if (calls !== undefined) return calls;
  if (character !== "{" && character !== "[") return readNamed(source, at, place);
  const read = readJson(source, at);
  const drafts = read.ok ? toCallDrafts(read, place) : undefined;
  return read.ok && drafts !== undefined ? { drafts, end: read.end } : "unreadable";
}

/** JSON that was written as a text: `"{\"name\": …}"`. */
function readEncoded(source: Source, at: number, place: CallPlace): CallRead {
  const { value: text, end, isCut } = readString(source, at, "top");
  const value = isCut ? undefined : parseStrictly(text.trim());
  const repairs = ["JSON that was written as a text was read"];
  const drafts = toCallDrafts({ value, end, repairs, incomplete: new Map() }, place);
  return drafts === undefined ? "unreadable" : { drafts, end };
}

const listStart = /\[\s{0,16}([A-Za-z_][\w.-]{0,120})\s{0,4}\(/uy;

/** `[get_weather(city="Paris"), get_time(zone="CET")]` */
function readExpressions(source: Source, at: number, place: CallPlace): ReadCalls | undefined {
  const match = matchAt(source, at, listStart, 160);
  if (match === null || place.index.find(String(match[1])) === undefined) return undefined;
  const drafts: CallDraft[] = [];
  let next = at;
  do {
    const read = readNamed(source, skipSpace(source, next + 1), { ...place, isMarked: false });
    if (typeof read === "string") return undefined;
    drafts.push(...read.drafts);
    next = skipSpace(source, read.end);
  } while (source.text.charAt(next) === ",");
  return { drafts, end: source.text.charAt(next) === "]" ? next + 1 : next };
}

const nameAt = /(?:function\s{0,4}<｜tool▁sep｜>)?([A-Za-z_][\w./:-]{0,160})/uy;

/** A name, and its values in brackets, as JSON or between tags behind it. */
export function readNamed(source: Source, at: number, place: CallPlace): CallRead {
  const match = matchAt(source, at, nameAt, 200);
  if (match === null) return "none";
  // Without what models put around it: `functions.get_weather:0`, `get_weather.call`, `call:get_weather`.
  const written = String(match[1])
    .replace(/:\d*$/u, "")
    .replace(/\.call$/u, "");
  const name = written.replace(/[.:]$/u, "").replace(/^(?:functions?\.|call:)/u, "");
  const { index, isMarked } = place;
  const tool = index.find(name);
  if (tool === undefined && !isMarked) return "none";
  const next = at + match[0].length;
  if (source.text.charAt(next) === "(" && tool !== undefined)
    return readExpression(source, next, tool, name) ?? (isMarked ? "unreadable" : "none");
  if (!isMarked) return "none";
  const style = place.style === "json" ? "token" : place.style;
  return readBehindName(source, skipSeparators(source, next), { name, style, tool });
}

/** Reads the values that stand behind the name of a tool. */
export function readBehindName(source: Source, at: number, owner: CallOwner): CallRead {
  const { name, style, tool } = owner;
  const draft = { name, input: {}, style, repairs: [] };
  if (isOver(source, at)) return tool === undefined ? "none" : { drafts: [{ ...draft, isCut: true }], end: at };
  if (source.text.charAt(at) === "{") return readObject(source, at, owner) ?? "unreadable";
  if (startsWith(source, at, "<arg_key>")) return readBody(source, at, owner) ?? "unreadable";
  if (tool === undefined || readMark(source, at) === undefined) return "none";
  return { drafts: [{ ...draft, isCut: false }], end: at };
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

/** What is in the brackets of a call. */
interface Arguments {
  readonly positional: unknown[];
  readonly named: Record<string, unknown>;
}

/**
 * Reads `(…)` behind the name of a tool: values by position or by name, as Python and JavaScript write them. `undefined` if there
 * is anything in it that is no literal: then it is code or documentation.
 *
 * Contract: throws `needMore` and nothing else.
 */
export function readExpression(source: Source, open: number, tool: CallableTool, name: string): ReadCalls | undefined {
  if (source.runaways >= mostRunaways) return undefined;
  const reader = new LenientReader(source, open + 1, true);
  try {
    const found = readArguments(reader);
    const isCut = found === undefined;
    if (isCut) source.runaways += 1;
    const repairs = [...reader.repairs].filter((repair) => repair !== "quotes were put around keys");
    const input = found === undefined ? {} : placeArguments(found, tool, repairs);
    return input && { drafts: [{ name, input, style: "expression", repairs, isCut }], end: reader.at };
  } catch (cause) {
    if (cause === needMore) throw cause;
    return undefined;
  }
}

/** The arguments up to the closing bracket; `undefined` if the answer ends before it. */
function readArguments(reader: LenientReader): Arguments | undefined {
  const found: Arguments = { positional: [], named: {} };
  for (;;) {
    const start = reader.skip();
    if (start === "") return undefined;
    if (start === ")") break;
    const key = readKeyword(reader);
    const value = reader.read("argument");
    if (value === undefined || reader.incomplete.size > 0) return undefined;
    if (key === undefined) found.positional.push(value);
    else setOwn(found.named, key, value);
    const next = reader.skip();
    if (next === "") return undefined;
    if (next === ",") reader.at += 1;
    else if (next !== ")") throw unreadable;
  }
  reader.at += 1;
  return found;
}

function readKeyword(reader: LenientReader): string | undefined {
  const { source } = reader;
  let end = reader.at;
  while (!isOver(source, end) && /[\w$-]/u.test(source.text.charAt(end))) end += 1;
  const word = source.text.slice(reader.at, end);
  while (!isOver(source, end) && source.text.charAt(end) === " ") end += 1;
  source.steps += end - reader.at;
  if (!/^[A-Za-z_$]/u.test(word) || !/[=:]/u.test(source.text.charAt(end))) return undefined;
  reader.at = end + 1;
  return word;
}

function placeArguments({ positional, named }: Arguments, tool: CallableTool, repairs: string[]): object | undefined {
  const names = propertiesOf(tool).map(([name]) => name);
  const [first] = positional;
  if (positional.length === 0) return named;
  if (positional.length === 1 && Object.keys(named).length === 0) {
    // `tool({ city: "Paris" })`: the object is the input itself, if it has the tool's properties.
    const isObject = typeof first === "object" && first !== null && !Array.isArray(first);
    if (isObject && Object.keys(first).every((key) => names.includes(key))) return first;
    const only = singleProperty(tool);
    if (only !== undefined) return { [only]: first };
  }
  if (positional.length > names.length) return undefined;
  const input: Record<string, unknown> = {};
  for (const [place, value] of positional.entries()) setOwn(input, String(names[place]), value);
  for (const key of Object.keys(named)) {
    if (Object.hasOwn(input, key)) return undefined;
    setOwn(input, key, named[key]);
  }
  if (positional.length > 1) repairs.push("values were taken in the order of the properties");
  return input;
}
