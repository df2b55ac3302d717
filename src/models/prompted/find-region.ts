import { toCallDrafts, type ReadCalls } from "./call-draft.ts";
import { readMark } from "./marks.ts";
import { fencePassage, inlinePassage, passageUntil, thinkPassage, thoughtsUntil, type Passage } from "./passages.ts";
import { readCalls } from "./read-calls.ts";
import { readElement } from "./read-element.ts";
import { readFence, readListed } from "./read-fence.ts";
import { readHead } from "./read-head.ts";
import { readMarked } from "./read-marked.ts";
import { isActionBeginning, readReact } from "./read-react.ts";
import { isQuote, readString } from "./read-string.ts";
import { readJson } from "./read-value.ts";
import { isOver, matchAt, matchTag, needMore, skipRun, skipSpace, startsWith, type Source } from "./source.ts";
import type { ToolIndex } from "./tool-index.ts";

/** What is at a place of an answer. */
export type Region =
  | (ReadCalls & { readonly kind: "calls"; readonly start: number })
  /** Nothing that is a call. */
  | { readonly kind: "text"; readonly end: number }
  /** A mark that means nothing here. `isEnding`: also where no call is near. */
  | { readonly kind: "mark"; readonly end: number; readonly isEnding: boolean }
  | { readonly kind: "passage"; readonly end: number; readonly passage: Passage; readonly isResult?: boolean };

const thinkTag =
  /<(\/?)(?:[a-z]+:)?(?:think|thinking|thought|reasoning|reflection|scratchpad)\s{0,4}>|\[(\/?)THINK\]/iuy;
const shownTag =
  /<(examples?|documentation|tools|tool_(?:response|result|output)s?|(?:start_)?function_(?:response|result)s?)(?:\s[^<>]{0,120})?>/iuy;
const innerThoughts = "<|inner_prefix|>";
const leftoverTag = /<\/(?:[a-z]+:|｜DSML｜)?(?:invoke|function|parameter|tool)>/iuy;

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
    case ">":
      return findHead(source, at, index) ?? { kind: "text", end: at + 1 };
    default:
      return findJson(source, at, index);
  }
}

function findTag(source: Source, at: number, index: ToolIndex): Region {
  const text: Region = { kind: "text", end: at + 1 };
  if (isOver(source, at + 1) || !/[A-Za-z/|｜!]/u.test(source.text.charAt(at + 1))) return text;
  if (startsWith(source, at, "<!--")) return { kind: "passage", end: at + 4, passage: passageUntil("-->") };
  if (!isTagBeginning(source, at, index)) return text;
  const think = matchTag(source, at, thinkTag);
  if (think !== null) return toThinking(think);
  const shown = matchTag(source, at, shownTag);
  if (shown !== null && index.get(String(shown[1])) === undefined) return findShown(source, shown, index);
  const head = findHead(source, at, index);
  if (head !== undefined) return head;
  if (startsWith(source, at, innerThoughts))
    return { kind: "passage", end: at + innerThoughts.length, passage: thoughtsUntil(String.raw`<\|inner_suffix\|>`) };
  const marked = findMarked(source, at, index);
  if (marked !== undefined) return marked;
  const element = readElement(source, at, index);
  if (element !== undefined) return { kind: "calls", start: at, ...element };
  const leftover = matchTag(source, at, leftoverTag);
  return leftover === null ? text : { kind: "mark", end: at + leftover[0].length, isEnding: false };
}

/** What stands between tags in which something is shown. Between `<tools>`, where tools are declared, Qwen 2.5 Coder also calls them. */
function findShown(source: Source, shown: RegExpExecArray, index: ToolIndex): Region {
  const tag = String(shown[1]).toLowerCase();
  const end = shown.index + shown[0].length;
  if (tag === "tools") {
    const read = readListed(source, end, `</${shown[1]}>`, index);
    if (read !== undefined) return { kind: "calls", start: shown.index, ...read };
  }
  const closing = tag === "start_function_response" ? "<end_function_response>" : `</${shown[1]}>`;
  const isResult = /^(?:tool|function|start_function)_/u.test(tag);
  return { kind: "passage", end, passage: passageUntil(closing), isResult };
}

/** The head of a message that says who it is for. */
function findHead(source: Source, at: number, index: ToolIndex): Region | undefined {
  const head = readHead(source, at, index);
  if (head === undefined) return undefined;
  if (head.kind === "text") return { kind: "mark", end: head.end, isEnding: true };
  return head.kind === "calls" ? { kind: "calls", start: at, ...head.read } : head;
}

function toThinking(match: RegExpExecArray): Region {
  const end = match.index + match[0].length;
  if (match.slice(1).includes("/")) return { kind: "mark", end, isEnding: true };
  return { kind: "passage", end, passage: thinkPassage() };
}

function findMarked(source: Source, at: number, index: ToolIndex): Region | undefined {
  const mark = readMark(source, at);
  if (mark === undefined) return undefined;
  const { role, end } = mark;
  if (role !== "open") return { kind: "mark", end, isEnding: role === "ending" };
  const read = readMarked(source, mark, index);
  return read === undefined ? { kind: "text", end } : { kind: "calls", start: at, ...read };
}

const tagWord = /<\/?[|｜]?([A-Za-z][A-Za-z0-9_:▁-]{0,160})/uy;
const tagWords = new Set(
  "think thinking thought reasoning reflection scratchpad example examples documentation tools tool function functions invoke parameter tool_code s end call eom_id eot_id im_end endoftext python_tag plugin DSML action_start action_end start_function_call end_function_call toolcall toolcalls functioncall functioncalls dsml start channel from recipient return stop assistant_end inner_prefix inner_suffix tools_prefix tools_suffix start_function_response".split(
    " ",
  ),
);
const tagBeginnings = ["tool_", "tool▁", "function_", "end_of", "end▁of"];

/** Tells early whether the word of a tag is one that matters: text with a `<` in it need not wait for a `>`. */
function isTagBeginning(source: Source, at: number, index: ToolIndex): boolean {
  tagWord.lastIndex = at;
  const match = tagWord.exec(source.text);
  if (match === null) return true;
  const written = String(match[1]);
  const bare = written.slice(written.indexOf(":") + 1).toLowerCase();
  if (tagBeginnings.some((beginning) => bare.startsWith(beginning))) return true;
  isOver(source, at + match[0].length);
  return tagWords.has(bare) || index.get(written) !== undefined;
}

function findFence(source: Source, at: number, index: ToolIndex): Region {
  const character = source.text.charAt(at);
  let end = at;
  while (source.text.charAt(end) === character) end += 1;
  if (end - at < 3) {
    if (isOver(source, end) || character === "~") return { kind: "text", end };
    return { kind: "passage", end, passage: inlinePassage() };
  }
  const read = readFence(source, at, index);
  if (read === undefined) return { kind: "text", end };
  if ("drafts" in read) return { kind: "calls", start: at, ...read };
  // A block that ends on the line it begins on.
  let lineEnd = source.text.indexOf("\n", at);
  if (lineEnd === -1) {
    isOver(source, source.text.length);
    lineEnd = source.text.length;
  }
  source.steps += lineEnd - at;
  const closing = source.text.slice(0, lineEnd).indexOf(read.fence, at + read.fence.length);
  if (closing === -1) return { kind: "passage", end, passage: fencePassage(read.fence) };
  return { kind: "text", end: skipRun(source, closing, character) };
}

function findBracket(source: Source, at: number, index: ToolIndex): Region {
  if (startsWith(source, at, "[THINK]") || startsWith(source, at, "[/THINK]"))
    return toThinking(matchTag(source, at, thinkTag) as RegExpExecArray);
  const marked = findMarked(source, at, index);
  if (marked !== undefined) return marked;
  const next = skipSpace(source, at + 1);
  const character = source.text.charAt(next);
  if (character === "{") return findJson(source, at, index);
  const text: Region = { kind: "text", end: at + 1 };
  const word = /[A-Za-z_]/u.test(character) ? (matchAt(source, next, /[\w.-]{1,160}\(?/uy, 162)?.[0] ?? "") : "";
  if (!word.endsWith("(") || index.find(word.slice(0, -1)) === undefined) return text;
  const read = readCalls(source, at, { index, style: "expression", isMarked: false });
  return typeof read === "string" ? text : { kind: "calls", start: at, ...read };
}

/** Looks at an object or a list in the middle of anything: a call is only what has the shape of one and the name of a tool. */
function findJson(source: Source, at: number, index: ToolIndex): Region {
  if (source.text.charAt(at) === "{" && !isObjectStart(source, at)) return { kind: "text", end: at + 1 };
  const read = readJson(source, at);
  if (!read.ok) return { kind: "text", end: read.next };
  const drafts = toCallDrafts(read, { index, style: "json", isMarked: false });
  const isCall = drafts?.some((draft) => index.find(draft.name) !== undefined) === true;
  const isGuessed = read.repairs.includes("quotes inside a text were escaped");
  if (drafts === undefined || !isCall || (isGuessed && !isLineOver(source, read.end)))
    return { kind: "text", end: read.incomplete.size > 0 ? at + 1 : read.end };
  // Brackets too many, right behind a call, are no text.
  return { kind: "calls", start: at, end: skipRun(source, read.end, "}]"), drafts };
}

function isObjectStart(source: Source, at: number): boolean {
  const next = skipSpace(source, at + 1);
  const character = source.text.charAt(next);
  if (isQuote(character) || character === "/" || character === "#") return true;
  return /^[A-Za-z_$]/u.test(character) && matchAt(source, next, /[\w$-]{1,64}\s{0,8}:/uy, 74) !== null;
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
  const head = character === ">" || character === "t" ? findHead(source, at, index) : undefined;
  if (head !== undefined) return head;
  // What is quoted, and what stands in a table, is shown.
  if (character === ">" || character === "|") return { kind: "passage", end: at + 1, passage: passageUntil("\n") };
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
  const isCall = source.text.charAt(at + word.length) === "(" && index.find(word.replace(/\.call$/u, "")) !== undefined;
  const read = isCall ? readCalls(source, at, { index, style: "expression", isMarked: false }) : "none";
  if (typeof read === "string" || !isLineOver(source, read.end)) return undefined;
  const end = source.text.charAt(read.end) === ";" ? read.end + 1 : read.end;
  return { kind: "calls", start: at, drafts: read.drafts, end };
}

function findAction(source: Source, at: number, index: ToolIndex): Region | undefined {
  const read = isActionBeginning(source.text.slice(at, at + 16)) ? readReact(source, at, index) : undefined;
  if (read === undefined) return undefined;
  const end = skipSpace(source, read.end);
  // Whether the model goes on with an observation of its own is seen in what follows.
  if (!source.ended) isOver(source, end + 20);
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
