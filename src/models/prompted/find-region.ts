import type { CallDraft } from "./call-draft.ts";
import { toCallDrafts } from "./json-calls.ts";
import { readMark } from "./marks.ts";
import { readCalls } from "./read-calls.ts";
import { readElement } from "./read-element.ts";
import { findFenceLineEnd, readFence } from "./read-fence.ts";
import { readJson } from "./read-json.ts";
import { readMarked } from "./read-marked.ts";
import { isQuote, readString } from "./read-string.ts";
import { isActionBeginning, readReact } from "./read-react.ts";
import { isOver, matchAt, matchTag, needMore, skipSpace, startsWith, type Source } from "./source.ts";
import type { ToolIndex } from "./tool-index.ts";

/** Text that goes on until something ends it, and in which no call is looked for. */
export type Passage =
  | { readonly kind: "think"; readonly name: string; depth: number }
  | { readonly kind: "fence"; readonly fence: string }
  | { readonly kind: "until"; readonly ending: string }
  | { readonly kind: "inline" }
  | { readonly kind: "dropped" };

/** What is at a place of an answer. */
export type Region =
  | {
      readonly kind: "calls";
      readonly start: number;
      readonly end: number;
      readonly drafts: readonly CallDraft[];
      readonly unreadable?: { readonly start: number; readonly end: number; readonly name?: string };
    }
  /** Nothing that is a call. */
  | { readonly kind: "text"; readonly end: number }
  /** A mark that means nothing here. `isEnding`: also where no call is near. */
  | { readonly kind: "mark"; readonly end: number; readonly isEnding: boolean }
  | { readonly kind: "passage"; readonly end: number; readonly passage: Passage; readonly isResult?: boolean };

const thinkTag = /<(\/?)((?:[a-z]+:)?(?:think|thinking|thought|reasoning|reflection|scratchpad))\s{0,4}>/iuy;
const shownTag =
  /<(examples?|documentation|tools|tool_(?:response|result|output)s?|function_(?:response|result)s?)(?:\s[^<>]{0,120})?>/iuy;
const resultTag = /^(?:tool|function)_/iu;

/** Looks at what begins with one of the characters that may begin a call. */
export function findRegion(source: Source, at: number, index: ToolIndex): Region {
  switch (source.text.charAt(at)) {
    case "<":
      return findTag(source, at, index);
    case "`":
    case "~":
      return findFence(source, at, index);
    case "[":
      return findBracket(source, at, index);
    default:
      return findJson(source, at, index);
  }
}

function findTag(source: Source, at: number, index: ToolIndex): Region {
  const text: Region = { kind: "text", end: at + 1 };
  if (isOver(source, at + 1) || !/[A-Za-z/|｜!]/u.test(source.text.charAt(at + 1))) return text;
  if (startsWith(source, at, "<!--"))
    return { kind: "passage", end: at + 4, passage: { kind: "until", ending: "-->" } };
  if (!isTagBeginning(source, at, index)) return text;
  const think = matchTag(source, at, thinkTag);
  if (think !== null) {
    const end = at + think[0].length;
    if (think[1] === "/") return { kind: "mark", end, isEnding: true };
    return { kind: "passage", end, passage: { kind: "think", name: String(think[2]).toLowerCase(), depth: 1 } };
  }
  const shown = matchTag(source, at, shownTag);
  if (shown !== null && index.get(String(shown[1])) === undefined) {
    const passage: Passage = { kind: "until", ending: `</${shown[1]}>` };
    return { kind: "passage", end: at + shown[0].length, passage, isResult: resultTag.test(String(shown[1])) };
  }
  return findCallTag(source, at, index) ?? text;
}

function findCallTag(source: Source, at: number, index: ToolIndex): Region | undefined {
  const mark = readMark(source, at);
  if (mark?.role === "open") return toRegion(at, readMarked(source, mark, index)) ?? { kind: "text", end: mark.end };
  if (mark !== undefined) return { kind: "mark", end: mark.end, isEnding: mark.role === "ending" };
  return toRegion(at, readElement(source, at, index)) ?? closingMark(source, at);
}

const leftoverTag = /<\/(?:[a-z]+:|｜DSML｜)?(?:invoke|function|parameter|tool)>/iuy;

function closingMark(source: Source, at: number): Region | undefined {
  const match = matchTag(source, at, leftoverTag);
  return match === null ? undefined : { kind: "mark", end: at + match[0].length, isEnding: false };
}

const tagWord = /<\/?[|｜]?([A-Za-z][A-Za-z0-9_:▁-]{0,160})/uy;
const tagWords = new Set(
  "think thinking thought reasoning reflection scratchpad example examples documentation tools tool function functions invoke parameter tool_code s end call eom_id eot_id im_end endoftext python_tag plugin DSML action_start action_end start_function_call end_function_call toolcall toolcalls functioncall functioncalls dsml".split(
    " ",
  ),
);
const tagBeginnings = ["tool_", "tool▁", "function_", "end_of", "end▁of"];

/** Tells early whether the word of a tag is one that matters: text with a `<` in it need not wait for a `>`. */
function isTagBeginning(source: Source, at: number, index: ToolIndex): boolean {
  tagWord.lastIndex = at;
  const match = tagWord.exec(source.text);
  if (match === null) return true;
  const isWhole = at + match[0].length < source.text.length || source.ended;
  const written = String(match[1]);
  const bare = written.slice(written.indexOf(":") + 1).toLowerCase();
  if (tagBeginnings.some((beginning) => bare.startsWith(beginning))) return true;
  if (isWhole) return tagWords.has(bare) || index.get(written) !== undefined;
  throw needMore;
}

function toRegion(
  start: number,
  read:
    | {
        readonly drafts: readonly CallDraft[];
        readonly end: number;
        readonly unreadable?: { start: number; end: number; name?: string };
      }
    | undefined,
): Region | undefined {
  return read && { kind: "calls", start, ...read };
}

function findFence(source: Source, at: number, index: ToolIndex): Region {
  const character = source.text.charAt(at);
  let end = at;
  while (source.text.charAt(end) === character) end += 1;
  if (end - at < 3 && isOver(source, end)) return { kind: "text", end };
  if (end - at < 3) {
    if (character === "~") return { kind: "text", end };
    return { kind: "passage", end, passage: { kind: "inline" } };
  }
  const read = readFence(source, at, index);
  if (read === undefined) return { kind: "text", end };
  if (read.isCalls) return { kind: "calls", start: at, drafts: read.drafts, end: read.end };
  const lineEnd = findFenceLineEnd(source, at, read.fence);
  if (lineEnd !== undefined) return { kind: "text", end: lineEnd };
  return { kind: "passage", end, passage: { kind: "fence", fence: read.fence } };
}

function findBracket(source: Source, at: number, index: ToolIndex): Region {
  if (startsWith(source, at, "[THINK]")) {
    return { kind: "passage", end: at + 7, passage: { kind: "think", name: "[/THINK]", depth: 1 } };
  }
  if (startsWith(source, at, "[/THINK]")) return { kind: "mark", end: at + 8, isEnding: true };
  const mark = readMark(source, at);
  if (mark?.role === "open") return toRegion(at, readMarked(source, mark, index)) ?? { kind: "text", end: mark.end };
  if (mark?.role === "close") return { kind: "mark", end: mark.end, isEnding: false };
  return findList(source, at, index);
}

function findList(source: Source, at: number, index: ToolIndex): Region {
  const next = skipSpace(source, at + 1);
  const character = source.text.charAt(next);
  const text: Region = { kind: "text", end: at + 1 };
  if (character === "{") return findJson(source, at, index);
  if (!/[A-Za-z_]/u.test(character)) return text;
  const word = matchAt(source, next, /[\w.-]{1,160}\(?/uy, 162)?.[0] ?? "";
  if (!word.endsWith("(") || index.find(word.slice(0, -1)) === undefined) return text;
  const read = readCalls(source, at, { index, style: "expression", isMarked: false });
  return typeof read === "string" ? text : { kind: "calls", start: at, ...read };
}

/** Looks at an object or a list in the middle of anything: a call is only what has the shape of one and the name of a tool. */
function findJson(source: Source, at: number, index: ToolIndex): Region {
  if (source.text.charAt(at) === "{" && !isObjectStart(source, at)) return { kind: "text", end: at + 1 };
  const read = readJson(source, at);
  if (!read.ok) return { kind: "text", end: read.next };
  const end = read.incomplete.size > 0 ? at + 1 : read.end;
  const drafts = toCallDrafts(read, { index, style: "json", isMarked: false });
  if (drafts === undefined || !drafts.some((draft) => index.find(draft.name) !== undefined))
    return { kind: "text", end };
  if (read.repairs.includes("quotes inside a text were escaped") && !isLineOver(source, read.end))
    return { kind: "text", end };
  return { kind: "calls", start: at, end: skipBrackets(source, read.end), drafts };
}

function isObjectStart(source: Source, at: number): boolean {
  const next = skipSpace(source, at + 1);
  const character = source.text.charAt(next);
  if (isQuote(character) || character === "/" || character === "#") return true;
  return /^[A-Za-z_$]/u.test(character) && matchAt(source, next, /[\w$-]{1,64}\s{0,8}:/uy, 74) !== null;
}

/** Brackets too many, right behind a call, are no text. */
function skipBrackets(source: Source, at: number): number {
  let next = at;
  while (!isOver(source, next) && "}]".includes(source.text.charAt(next))) next += 1;
  return next;
}

/** Tells whether nothing but white space is left of the line. */
function isLineOver(source: Source, at: number): boolean {
  const match = matchAt(source, at, /[ \t;]{0,64}(?:\r?\n|`{3})/uy, 70);
  return match !== null || /^[\s;]*$/u.test(source.text.slice(at, at + 70));
}

const lineWord = /[A-Za-z_][\w./:-]{0,160}/uy;

/** Classifies the start of a line: a quotation, a table row, `Action:`, `name(…)`, or JSON as a text. Otherwise `undefined`. */
export function findLine(source: Source, at: number, index: ToolIndex): Region | undefined {
  if (isOver(source, at)) return undefined;
  const character = source.text.charAt(at);
  // What is quoted, and what stands in a table, is shown.
  if (character === ">" || character === "|")
    return { kind: "passage", end: at + 1, passage: { kind: "until", ending: "\n" } };
  if (isQuote(character) && character !== "`") return findEncoded(source, at, index);
  if (/[*_#]/u.test(character)) return findAction(source, at, index);
  return /[A-Za-z]/u.test(character) ? findWord(source, at, index) : undefined;
}

function findWord(source: Source, at: number, index: ToolIndex): Region | undefined {
  lineWord.lastIndex = at;
  const word = lineWord.exec(source.text)?.[0] ?? "";
  if (!source.ended && at + word.length === source.text.length) {
    if (index.isBeginning(word) || isActionBeginning(word)) throw needMore;
    return undefined;
  }
  if (/^action/iu.test(word)) return findAction(source, at, index);
  if (source.text.charAt(at + word.length) !== "(" || index.find(word.replace(/\.call$/u, "")) === undefined)
    return undefined;
  const read = readCalls(source, at, { index, style: "expression", isMarked: false });
  if (typeof read === "string" || !isLineOver(source, read.end)) return undefined;
  const end = source.text.charAt(read.end) === ";" ? read.end + 1 : read.end;
  return { kind: "calls", start: at, drafts: read.drafts, end };
}

function findAction(source: Source, at: number, index: ToolIndex): Region | undefined {
  if (!isActionBeginning(source.text.slice(at, at + 16))) return undefined;
  const read = readReact(source, at, index);
  if (read === undefined) return undefined;
  const end = skipSpace(source, read.end);
  // Whether the model goes on with an observation of its own is seen in what follows.
  isOver(source, Math.min(end + 20, source.ended ? source.text.length : end + 20));
  return { kind: "calls", start: at, ...read, end };
}

/** `"{\"name\": …}"` on lines of its own. */
function findEncoded(source: Source, at: number, index: ToolIndex): Region | undefined {
  if (matchAt(source, at, /["'“]\s{0,8}[{[]\s{0,8}\\/uy, 20) === null) return undefined;
  const { end, isCut } = readString(source, at, "top");
  const read = isCut ? "none" : readCalls(source, at, { index, style: "json", isMarked: true });
  if (typeof read === "string" || !read.drafts.some((draft) => index.find(draft.name) !== undefined)) return undefined;
  return isLineOver(source, end) ? { kind: "calls", start: at, ...read } : undefined;
}
