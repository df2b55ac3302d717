import { checkDraft, type CallProblem, type FoundCall } from "./check-call.ts";
import { findLine, findRegion, type Passage, type Region } from "./find-region.ts";
import { announcesCall, isExample, isQuoted } from "./is-example.ts";
import { readMark } from "./marks.ts";
import { findPassageEnd } from "./passages.ts";
import { createSource, isOver, isSpace, needMore, skipSpace, type Source } from "./source.ts";
import type { ToolIndex } from "./tool-index.ts";

/** A piece of an answer, in order. */
export type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "call"; readonly call: FoundCall }
  | { readonly type: "problem"; readonly problem: CallProblem; readonly raw: string };

/** Takes an answer apart as it comes. What it makes of it does not depend on how it was cut into chunks. */
export interface Scanner {
  push(chunk: string): Piece[];
  /** Ends the answer. `isCut`: the answer was cut off before the model had finished. */
  end(options?: { readonly isCut?: boolean }): Piece[];
  /** The text that is held back because it may be a call. `isShown`: the call would be an example. */
  held(): { readonly text: string; readonly isShown: boolean } | undefined;
  /** How many characters were looked at, some of them again. */
  steps(): number;
}

/** How a scanner begins. */
export interface ScannerOptions {
  /** The answer begins inside a think block, whose opening tag was part of the prompt. */
  readonly startsThinking?: boolean;
  /** Tells whether a text repeats a part of the prompt, or the whole of one message. */
  readonly repeats?: (text: string) => Repeat | undefined;
}

/** How much of what a model was shown a text repeats. */
export type Repeat = "part" | "whole";

/** How many characters of finished text are kept for look-behind. */
const kept = 1024;

/** How often held text may be looked at again: so many characters for each that comes. */
const looksForCharacter = 8;

/** Makes a scanner. */
export function createScanner(index: ToolIndex, options: ScannerOptions = {}): Scanner {
  const scan = createScan(index, options);
  let chunks: string[] = [];
  let chunkLength = 0;
  let credit = 16_384;
  let isWaiting = false;

  function advance(): Piece[] {
    scan.source.text += chunks.join("");
    scan.source.found.clear();
    chunks = [];
    chunkLength = 0;
    isWaiting = runAll(scan);
    if (isWaiting) credit -= scan.source.text.length - scan.at;
    forget(scan);
    const { pieces } = scan;
    scan.pieces = [];
    return pieces;
  }

  return {
    push(chunk) {
      chunks.push(chunk);
      chunkLength += chunk.length;
      credit = Math.min(credit + chunk.length * looksForCharacter, 1_000_000);
      const length = scan.source.text.length - scan.at + chunkLength;
      const isWorthIt = !isWaiting || (credit >= length && (length < kept || /[>}\])`]/u.test(chunk)));
      return isWorthIt ? advance() : [];
    },
    end({ isCut = false } = {}) {
      scan.source.ended = true;
      scan.source.isCut = isCut;
      const pieces = advance();
      flushSpace(scan);
      return [...pieces, ...scan.pieces];
    },
    held() {
      if (!isWaiting || chunkLength > 0 || scan.passage !== undefined) return undefined;
      const text = scan.source.text.slice(scan.at);
      const isInQuotes = /["'“‘«]/u.test(scan.source.text.charAt(scan.at - 1));
      return { text, isShown: isInQuotes || isShown(scan, scan.at) || scan.repeats(text) !== undefined };
    },
    steps: () => scan.source.steps,
  };
}

function createScan(index: ToolIndex, { startsThinking = false, repeats = () => undefined }: ScannerOptions): Scan {
  return {
    source: createSource("", false),
    index,
    repeats,
    base: 0,
    at: 0,
    regionEnd: 0,
    exampleEnd: -1,
    lineChecked: -1,
    space: "",
    isBehindRegion: false,
    hasProse: false,
    last: undefined,
    pieces: [],
    passage: startsThinking ? { kind: "think", name: "think", depth: 1 } : undefined,
  };
}

interface Scan {
  readonly source: Source;
  readonly index: ToolIndex;
  readonly repeats: (text: string) => Repeat | undefined;
  /** Where in the answer the source's text begins. */
  base: number;
  /** What is before it is done with. */
  at: number;
  regionEnd: number;
  /** Where the last example ended: what follows it at once is one too. */
  exampleEnd: number;
  lineChecked: number;
  /** White space that is text if text follows. */
  space: string;
  isBehindRegion: boolean;
  /** Whether the answer contains text besides calls. */
  hasProse: boolean;
  passage: Passage | undefined;
  pieces: Piece[];
  /** What the last piece was. */
  last: Piece["type"] | undefined;
}

function add(scan: Scan, piece: Piece): void {
  scan.pieces.push(piece);
  scan.last = piece.type;
}

/** Goes as far as the text allows. Tells whether something is held back. */
function runAll(scan: Scan): boolean {
  const { source } = scan;
  for (;;) {
    const { runaways } = source;
    try {
      if (!runOne(scan)) return false;
    } catch (cause) {
      if (cause !== needMore) throw cause;
      source.runaways = runaways;
      return true;
    }
  }
}

const mayBegin = /[<`{[~\n]/gu;

/** One step. Tells whether there is more to do. */
function runOne(scan: Scan): boolean {
  const { source, index } = scan;
  if (scan.passage !== undefined) return runPassage(scan, scan.passage);
  if (scan.at >= source.text.length) return false;
  if (isLineStart(scan) && scan.lineChecked !== scan.at) {
    const start = skipIndent(source, scan.at);
    const line = findLine(source, start, index);
    const isMeant = line !== undefined && isMeantRegion(scan, line);
    scan.lineChecked = scan.at;
    if (line !== undefined) {
      addText(scan, start);
      takeRegion(scan, line, isMeant);
      return true;
    }
  }
  mayBegin.lastIndex = scan.at;
  const next = mayBegin.exec(source.text)?.index ?? source.text.length;
  source.steps += next - scan.at;
  if (next > scan.at || source.text.charAt(next) === "\n") {
    addText(scan, source.text.charAt(next) === "\n" ? next + 1 : next);
    return true;
  }
  const region = findRegion(source, next, index);
  takeRegion(scan, region, isMeantRegion(scan, region));
  return true;
}

function isLineStart({ source, base, at }: Scan): boolean {
  return at === 0 ? base === 0 : source.text.charAt(at - 1) === "\n";
}

function skipIndent(source: Source, at: number): number {
  let next = at;
  while (
    !isOver(source, next) &&
    isSpace(source.text.charAt(next)) &&
    source.text.charAt(next) !== "\n" &&
    next - at < 16
  )
    next += 1;
  return next;
}

/** Tells whether the calls of a region are to be made, and not only shown. Carries control away if that is seen in what follows. */
function isMeantRegion(scan: Scan, region: Region): boolean {
  if (region.kind !== "calls") return false;
  const { source } = scan;
  const { start, end } = region;
  if (isShown(scan, start) || (!isOver(source, end) && isQuoted(source.text, start, end))) return false;
  const repeat = scan.repeats(source.text.slice(start, end));
  if (repeat === undefined) return true;
  // What the model has read is meant if it says nothing else, or says that it does it; and nothing but calls comes behind.
  const isOwn = scan.hasProse ? announcesCall(source.text, start, scan.regionEnd) : repeat === "part";
  const next = isOwn ? skipSpace(source, end) : end;
  return isOwn && (isOver(source, next) || readMark(source, next) !== undefined);
}

function takeRegion(scan: Scan, region: Region, isMeant: boolean): void {
  switch (region.kind) {
    case "text":
      return addText(scan, region.end);
    case "mark":
      if (region.isEnding || scan.isBehindRegion) scan.at = region.end;
      else addText(scan, region.end);
      return;
    case "passage":
      return enterPassage(scan, region);
    case "calls":
      if (isMeant) return addCalls(scan, region);
      addText(scan, region.end);
      scan.exampleEnd = scan.at;
  }
}

function enterPassage(scan: Scan, { passage, end, isResult }: Extract<Region, { kind: "passage" }>): void {
  const isBehindCall = scan.isBehindRegion && scan.last !== "reasoning";
  // A model that writes the result itself has made it up, and all that follows from it.
  if (isResult === true && isBehindCall) scan.passage = { kind: "dropped" };
  else scan.passage = passage;
  if (passage.kind === "think") {
    // Two blocks in a row stay apart.
    if (scan.last === "reasoning") add(scan, { type: "reasoning", text: "\n" });
    leave(scan, end);
  } else if (scan.passage.kind === "dropped") scan.at = end;
  else addText(scan, end);
}

function isShown({ source, exampleEnd, regionEnd }: Scan, start: number): boolean {
  if (exampleEnd >= 0 && exampleEnd <= start && source.text.slice(exampleEnd, start).trim() === "") return true;
  return isExample(source.text, start, regionEnd);
}

function addCalls(scan: Scan, { start, end, drafts, unreadable }: Extract<Region, { kind: "calls" }>): void {
  const { source, index, base } = scan;
  const raw = source.text.slice(start, end);
  const span = { start: base + start, end: base + end, raw };
  for (const draft of drafts) {
    const checked = checkDraft(draft, index, span);
    if (checked.ok) add(scan, { type: "call", call: checked.call });
    else add(scan, { type: "problem", problem: checked.problem, raw });
  }
  if (unreadable !== undefined) add(scan, toUnreadable(scan, unreadable, { start, end }));
  const isInvented =
    drafts.at(-1)?.style === "react" && /^\W{0,4}Observation\b/iu.test(source.text.slice(end, end + 20));
  if (isInvented) scan.passage = { kind: "dropped" };
  leave(scan, end);
}

function toUnreadable(
  scan: Scan,
  unreadable: { start: number; end: number; name?: string },
  { start, end }: { start: number; end: number },
): Piece {
  const { source, index, base } = scan;
  const name = unreadable.name === undefined ? undefined : (index.find(unreadable.name)?.name ?? unreadable.name);
  const reason = `it is not JSON; write it again as {"name": …, "arguments": {…}} with every text in double quotes`;
  const problem: CallProblem = {
    kind: "unreadable",
    ...(name !== undefined && { name }),
    input: source.text.slice(start, end),
    message: `Cannot read the call${name === undefined ? "" : ` of ${JSON.stringify(name)}`}: ${reason}`,
    reason,
    start: base + start,
    end: base + end,
  };
  return { type: "problem", problem, raw: source.text.slice(start, end) };
}

function leave(scan: Scan, end: number): void {
  scan.at = end;
  scan.regionEnd = end;
  scan.space = "";
  scan.isBehindRegion = true;
}

function runPassage(scan: Scan, passage: Passage): boolean {
  const { source } = scan;
  const start = scan.at;
  const { end, next, isClosed } = findPassageEnd(source, scan.at, passage);
  source.steps += next - scan.at;
  if (passage.kind === "think") {
    const text = source.text.slice(scan.at, end);
    if (text !== "") add(scan, { type: "reasoning", text });
    scan.at = next;
    if (isClosed) leave(scan, next);
  } else if (passage.kind === "dropped") scan.at = next;
  else addText(scan, next);
  if (isClosed) scan.passage = undefined;
  return isClosed || next > start;
}

/** Adds text up to `end`. White space at its end is held back: next to a call it is not text. */
function addText(scan: Scan, end: number): void {
  const text = scan.source.text.slice(scan.at, end);
  scan.at = end;
  const trimmed = text.trimEnd();
  if (trimmed === "") {
    scan.space += text;
    return;
  }
  const lead = scan.isBehindRegion ? trimmed.trimStart() : scan.space + trimmed;
  scan.isBehindRegion = false;
  scan.hasProse = true;
  scan.space = text.slice(trimmed.length);
  add(scan, { type: "text", text: lead });
}

function flushSpace(scan: Scan): void {
  if (scan.space !== "" && !scan.isBehindRegion) add(scan, { type: "text", text: scan.space });
  scan.space = "";
}

/** Lets go of what nothing looks back at. */
function forget(scan: Scan): void {
  const done = scan.at - kept;
  if (done < kept * 8) return;
  scan.source.text = scan.source.text.slice(done);
  scan.base += done;
  scan.at -= done;
  scan.regionEnd = Math.max(0, scan.regionEnd - done);
  scan.exampleEnd = scan.exampleEnd < done ? -1 : scan.exampleEnd - done;
  scan.lineChecked -= done;
}
