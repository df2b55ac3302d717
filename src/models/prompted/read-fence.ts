import type { CallDraft, CallPlace, ReadCalls } from "./call-draft.ts";
import { readMark } from "./marks.ts";
import { readCalls, readNamed } from "./read-calls.ts";
import { readMarked } from "./read-marked.ts";
import { isOver, matchAt, skipRun, skipSpace, startsWith, type Source } from "./source.ts";
import type { ToolIndex } from "./tool-index.ts";

const opening = /(`{3,32}|~{3,32})[ \t]{0,8}([\w+#.-]{0,40})/uy;

/** Blocks for calls, and blocks that may be one. Of others it is the content that is shown. */
const callLanguage = /^(?:tools?|functions?|actions?|call)(?:[_-]?(?:calls?|code|use|request))?$/iu;
const dataLanguage = /^(?:|json[5cl]?|ndjson|xml|python3?|py)$/iu;

/**
 * Reads the fenced block at `at`: calls and nothing else, or the fence of a block that is shown as it is up to what closes it.
 * `undefined` if no fence is there.
 */
export function readFence(source: Source, at: number, index: ToolIndex): ReadCalls | { fence: string } | undefined {
  const match = matchAt(source, at, opening, 88);
  if (match === null) return undefined;
  const [whole, fence, language] = match as unknown as [string, string, string];
  const isMarked = callLanguage.test(language);
  if (!isMarked && !dataLanguage.test(language)) return { fence };
  const place: CallPlace = { index, style: "json", isMarked };
  const read = readList(source, at + whole.length, { place, language, closing: fence });
  return read === undefined ? { fence } : { ...read, end: skipRun(source, read.end, fence.charAt(0)) };
}

/** Reads what stands up to `closing` as calls and nothing else: between `<tools>` and `</tools>`, say. */
export function readListed(source: Source, at: number, closing: string, index: ToolIndex): ReadCalls | undefined {
  const place: CallPlace = { index, style: "tool-call", isMarked: false };
  const read = readList(source, at, { place, language: "json", closing });
  return read && { ...read, end: read.end + (startsWith(source, read.end, closing) ? closing.length : 0) };
}

interface List {
  readonly place: CallPlace;
  readonly language: string;
  readonly closing: string;
}

/** Calls, and nothing else, up to where `closing` stands; `undefined` if there is anything else. */
function readList(source: Source, at: number, { place, language, closing }: List): ReadCalls | undefined {
  const drafts: CallDraft[] = [];
  let next = at;
  for (;;) {
    next = skipNotes(source, next, language);
    if (isOver(source, next) || startsWith(source, next, closing))
      return drafts.length === 0 ? undefined : { drafts, end: next };
    const read = readInside(source, next, place);
    if (read === undefined) return undefined;
    drafts.push(...read.drafts);
    next = read.end;
    if (!isOver(source, next) && /[,;]/u.test(source.text.charAt(next))) next += 1;
  }
}

function readInside(source: Source, at: number, place: CallPlace): ReadCalls | undefined {
  const mark = readMark(source, at);
  if (mark !== undefined) {
    const region = mark.role === "open" ? readMarked(source, mark, place.index) : undefined;
    return region?.unreadable === undefined ? region : undefined;
  }
  const read = readPrinted(source, at, place) ?? readCalls(source, at, place);
  if (typeof read === "string") return undefined;
  const isKnown = read.drafts.some((draft) => place.index.find(draft.name) !== undefined);
  return isKnown || place.isMarked ? read : undefined;
}

const printed = /(?:([A-Za-z_]\w{0,60})\s{0,4}=\s{0,4}(?:await\s{1,4})?|await\s{1,4}|print\s{0,4}\(\s{0,4})/uy;

/** `print(get_weather(city="Paris"))`, `result = get_weather(city="Paris")` */
function readPrinted(source: Source, at: number, place: CallPlace): ReturnType<typeof readNamed> | undefined {
  if (!/[A-Za-z_]/u.test(source.text.charAt(at))) return undefined;
  const match = matchAt(source, at, printed, 88);
  // To keep a result in a variable is what a program does; only where calls are expected is it one.
  if (match === null || (match[1] !== undefined && !place.isMarked)) return undefined;
  const read = readNamed(source, at + match[0].length, { ...place, isMarked: false });
  if (typeof read === "string" || !match[0].startsWith("print")) return read;
  const end = skipSpace(source, read.end);
  return source.text.charAt(end) === ")" ? { ...read, end: end + 1 } : "none";
}

/** Skips white space, and comments where `#` begins one. */
function skipNotes(source: Source, at: number, language: string): number {
  let next = skipSpace(source, at);
  while (/^(?:py|tool_code)/iu.test(language) && source.text.charAt(next) === "#") {
    while (!isOver(source, next) && source.text.charAt(next) !== "\n") next += 1;
    next = skipSpace(source, next);
  }
  return next;
}
