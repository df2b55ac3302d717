import type { CallDraft } from "./call-draft.ts";
import { readMark } from "./marks.ts";
import { readCalls, readNamed, type CallPlace } from "./read-calls.ts";
import { readMarked } from "./read-marked.ts";
import { isOver, matchAt, skipSpace, startsWith, type Source } from "./source.ts";
import type { ToolIndex } from "./tool-index.ts";

/** A fenced block: calls and nothing else, or a block that is shown as it is up to what closes it. */
export type FenceRead =
  | { readonly isCalls: true; readonly drafts: readonly CallDraft[]; readonly end: number }
  | { readonly isCalls: false; readonly fence: string };

const opening = /(`{3,32}|~{3,32})[ \t]{0,8}([\w+#.-]{0,40})/uy;

/** Blocks for calls, and blocks that may be one. Of others it is the content that is shown. */
const callLanguage = /^(?:tools?|functions?|actions?|call)(?:[_-]?(?:calls?|code|use|request))?$/iu;
const dataLanguage = /^(?:|json[5cl]?|ndjson|xml|python3?|py)$/iu;

/** Reads the fenced block at `at`; `undefined` if no fence is there. */
export function readFence(source: Source, at: number, index: ToolIndex): FenceRead | undefined {
  const match = matchAt(source, at, opening, 88);
  if (match === null) return undefined;
  const [whole, marks, language] = match as unknown as [string, string, string];
  const isMarked = callLanguage.test(language);
  const shown: FenceRead = { isCalls: false, fence: marks };
  if (!isMarked && !dataLanguage.test(language)) return shown;
  const place: CallPlace = { index, style: "json", isMarked };
  const drafts: CallDraft[] = [];
  let next = at + whole.length;
  for (;;) {
    next = skipNotes(source, next, language);
    if (isOver(source, next)) return drafts.length === 0 ? shown : { isCalls: true, drafts, end: next };
    if (startsWith(source, next, marks)) {
      return drafts.length === 0 ? shown : { isCalls: true, drafts, end: skipMarks(source, next, marks.charAt(0)) };
    }
    const read = readInside(source, next, place);
    if (read === undefined) return shown;
    drafts.push(...read.drafts);
    next = read.end;
    if (!isOver(source, next) && /[,;]/u.test(source.text.charAt(next))) next += 1;
  }
}

function readInside(
  source: Source,
  at: number,
  place: CallPlace,
): { drafts: readonly CallDraft[]; end: number } | undefined {
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

function skipMarks(source: Source, at: number, character: string): number {
  let next = at;
  while (!isOver(source, next) && source.text.charAt(next) === character) next += 1;
  return next;
}

/** Finds where a block that is shown ends: behind a fence at the start of a line. `undefined` if that has not come. */
export function findFenceEnd(text: string, from: number, fence: string): number | undefined {
  let at = text.indexOf(fence, from);
  while (at !== -1) {
    let end = at;
    while (text.charAt(end) === fence.charAt(0)) end += 1;
    if (/(?:^|\n)[ \t]*$/u.test(text.slice(Math.max(0, at - 8), at))) return end;
    at = text.indexOf(fence, end);
  }
  return undefined;
}

/** Finds the end of a block that ends on the line it begins on; `undefined` if it does not. */
export function findFenceLineEnd(source: Source, at: number, fence: string): number | undefined {
  let end = source.text.indexOf("\n", at);
  if (end === -1) {
    isOver(source, source.text.length);
    end = source.text.length;
  }
  source.steps += end - at;
  const closing = source.text.slice(at, end).indexOf(fence, fence.length);
  return closing === -1 ? undefined : skipMarks(source, at + closing, fence.charAt(0));
}
