import type { ReadCalls } from "./call-draft.ts";
import { checkDraft, toUnreadable, type CheckedDraft } from "./check-call.ts";
import { findLine, findRegion, type Region } from "./find-region.ts";
import { announcesCall, farthestBehind, isExample, isOnlyOffered, isQuoted } from "./is-example.ts";
import { readMark } from "./marks.ts";
import { droppedPassage, findPassageEnd, thinkPassage, type Passage } from "./passages.ts";
import { createSource, isOver, isSpace, needMore, skipSpace } from "./source.ts";
import type { ToolIndex } from "./tool-index.ts";

/** A piece of an answer, in order. */
export type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | CheckedDraft;

/** Takes an answer apart as it comes. What it makes of it does not depend on how it was cut into chunks. */
export interface Scanner {
  push(chunk: string): Piece[];
  /** Ends the answer. `isCut`: the answer was cut off before the model had finished. */
  end(options?: { readonly isCut?: boolean }): Piece[];
  /** The text that is held back because it may be a call. `isShown`: the call would be an example. */
  held(): { readonly text: string; readonly isShown: boolean } | undefined;
  /** How many characters were read, counting those that were read again. */
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

/** Makes a scanner. */
export function createScanner(index: ToolIndex, options: ScannerOptions = {}): Scanner {
  return new AnswerScanner(index, options);
}

/** How many characters of finished text are kept for look-behind. */
const kept = 1024;

/** How often held text may be read again: the number of characters for each new one. */
const looksForCharacter = 8;

const mayBegin = /[<`{[~\n]|>(?=>|$)/gu;

const isIndent = (character: string): boolean => character !== "\n" && isSpace(character);

class AnswerScanner implements Scanner {
  readonly #source = createSource("", false);
  readonly #index: ToolIndex;
  readonly #repeats: (text: string) => Repeat | undefined;
  /** Text that has arrived and was not read yet. */
  #chunks: string[] = [];
  #chunkLength = 0;
  #credit = 16_384;
  #isWaiting = false;
  /** Where in the answer the source's text begins. */
  #base = 0;
  /** What is before it is done with. */
  #at = 0;
  #regionEnd = 0;
  /** Where the last example ended: what follows it at once is one too. */
  #exampleEnd = -1;
  #lineChecked = -1;
  /** White space that is text if text follows. */
  #space = "";
  #isBehindRegion = false;
  /** Whether the answer contains text besides calls. */
  #hasProse = false;
  #passage: Passage | undefined;
  #pieces: Piece[] = [];
  /** What the last piece was. */
  #last: Piece["type"] | undefined;

  constructor(index: ToolIndex, { startsThinking = false, repeats = () => undefined }: ScannerOptions) {
    this.#index = index;
    this.#repeats = repeats;
    if (startsThinking) this.#passage = thinkPassage();
  }

  push(chunk: string): Piece[] {
    this.#chunks.push(chunk);
    this.#chunkLength += chunk.length;
    this.#credit = Math.min(this.#credit + chunk.length * looksForCharacter, 1_000_000);
    const length = this.#source.text.length - this.#at + this.#chunkLength;
    const isWorthIt = this.#credit >= length && (length < kept || /[>}\])`]/u.test(chunk));
    return !this.#isWaiting || isWorthIt ? this.#advance() : [];
  }

  end({ isCut = false } = {}): Piece[] {
    this.#source.ended = true;
    this.#source.isCut = isCut;
    const pieces = this.#advance();
    if (this.#space !== "" && !this.#isBehindRegion) pieces.push({ type: "text", text: this.#space });
    this.#space = "";
    return pieces;
  }

  held(): { readonly text: string; readonly isShown: boolean } | undefined {
    if (!this.#isWaiting || this.#chunkLength > 0 || this.#passage !== undefined) return undefined;
    const text = this.#source.text.slice(this.#at);
    const isInQuotes = /["'“‘«]/u.test(this.#source.text.charAt(this.#at - 1));
    return { text, isShown: isInQuotes || this.#isShown(this.#at) || this.#repeats(text) !== undefined };
  }

  steps(): number {
    return this.#source.steps;
  }

  /** Goes as far as the text allows. */
  #advance(): Piece[] {
    const source = this.#source;
    source.text += this.#chunks.join("");
    source.found.clear();
    this.#chunks = [];
    this.#chunkLength = 0;
    let { runaways } = source;
    try {
      while (this.#step()) ({ runaways } = source);
      this.#isWaiting = false;
    } catch (cause) {
      if (cause !== needMore) throw cause;
      source.runaways = runaways;
      this.#isWaiting = true;
      this.#credit -= source.text.length - this.#at;
    }
    this.#forget();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** Tells whether there is more to do. */
  #step(): boolean {
    const source = this.#source;
    if (this.#passage !== undefined) return this.#goThrough(this.#passage);
    if (this.#at >= source.text.length) return false;
    const isLineStart = this.#at === 0 ? this.#base === 0 : source.text.charAt(this.#at - 1) === "\n";
    if (isLineStart && this.#lineChecked !== this.#at) {
      const start = this.#skipIndent();
      const line = findLine(source, start, this.#index);
      const isMeant = line !== undefined && this.#isMeant(line);
      this.#lineChecked = this.#at;
      if (line !== undefined) {
        this.#addText(start);
        this.#take(line, isMeant);
        return true;
      }
    }
    mayBegin.lastIndex = this.#at;
    const next = mayBegin.exec(source.text)?.index ?? source.text.length;
    const isLineEnd = source.text.charAt(next) === "\n";
    source.steps += next - this.#at;
    if (next > this.#at || isLineEnd) this.#addText(isLineEnd ? next + 1 : next);
    else {
      const region = findRegion(source, next, this.#index);
      this.#take(region, this.#isMeant(region));
    }
    return true;
  }

  #skipIndent(): number {
    const { text } = this.#source;
    let next = this.#at;
    while (!isOver(this.#source, next) && isIndent(text.charAt(next)) && next - this.#at < 16) next += 1;
    return next;
  }

  /** Tells whether the calls of a region are to be made, and not only shown. Carries control away if that is seen in what follows. */
  #isMeant(region: Region): boolean {
    if (region.kind !== "calls") return false;
    const source = this.#source;
    const { start, end } = region;
    if (this.#isShown(start) || (!isOver(source, end) && isQuoted(source.text, start, end))) return false;
    if (region.drafts.some(({ style }) => style === "json" || style === "expression")) {
      if (!source.ended) isOver(source, end + farthestBehind);
      if (isOnlyOffered(source.text, end)) return false;
    }
    const repeat = this.#repeats(source.text.slice(start, end));
    if (repeat === undefined) return true;
    // What the model has read is meant if it says nothing else, or says that it does it; and nothing but calls comes behind.
    const isOwn = this.#hasProse ? announcesCall(source.text, start, this.#regionEnd) : repeat === "part";
    const next = isOwn ? skipSpace(source, end) : end;
    return isOwn && (isOver(source, next) || readMark(source, next) !== undefined);
  }

  #isShown(start: number): boolean {
    const { text } = this.#source;
    const isNextToExample = this.#exampleEnd >= 0 && this.#exampleEnd <= start;
    if (isNextToExample && text.slice(this.#exampleEnd, start).trim() === "") return true;
    return isExample(text, start, this.#regionEnd);
  }

  #take(region: Region, isMeant: boolean): void {
    switch (region.kind) {
      case "text":
        return this.#addText(region.end);
      case "mark":
        if (region.isEnding || this.#isBehindRegion) this.#at = region.end;
        else this.#addText(region.end);
        return;
      case "passage":
        return this.#enter(region);
      case "calls":
        if (isMeant) return this.#addCalls(region);
        this.#addText(region.end);
        this.#exampleEnd = this.#at;
    }
  }

  #enter({ passage, end, isResult = false }: Extract<Region, { kind: "passage" }>): void {
    // A model that writes the result itself has made it up, and all that follows from it.
    const isInvented = isResult && this.#isBehindRegion && this.#last !== "reasoning";
    this.#passage = isInvented ? droppedPassage() : passage;
    if (isInvented) this.#at = end;
    else if (passage.kind === "think") {
      // Two blocks in a row stay apart.
      if (this.#last === "reasoning") this.#add({ type: "reasoning", text: "\n" });
      this.#leave(end);
    } else this.#addText(end);
  }

  #addCalls({ start, end, drafts, unreadable }: ReadCalls & { readonly start: number }): void {
    const { text } = this.#source;
    const span = { start: this.#base + start, end: this.#base + end, raw: text.slice(start, end) };
    for (const draft of drafts) this.#add(checkDraft(draft, this.#index, span));
    if (unreadable !== undefined) this.#add(toUnreadable(unreadable.name, this.#index, span));
    const isInvented = drafts.at(-1)?.style === "react" && /^\W{0,4}Observation\b/iu.test(text.slice(end, end + 20));
    if (isInvented) this.#passage = droppedPassage();
    this.#leave(end);
  }

  #goThrough(passage: Passage): boolean {
    const start = this.#at;
    const { end, next, isClosed } = findPassageEnd(this.#source, start, passage);
    this.#source.steps += next - start;
    if (passage.kind === "shown") this.#addText(next);
    else {
      if (passage.kind === "think" && end > start)
        this.#add({ type: "reasoning", text: this.#source.text.slice(start, end) });
      this.#at = next;
      if (isClosed) this.#leave(next);
    }
    if (isClosed) this.#passage = undefined;
    return isClosed || next > start;
  }

  #leave(end: number): void {
    this.#at = end;
    this.#regionEnd = end;
    this.#space = "";
    this.#isBehindRegion = true;
  }

  #add(piece: Piece): void {
    this.#pieces.push(piece);
    this.#last = piece.type;
  }

  /** Adds text up to `end`. White space at its end is held back: next to a call it is not text. */
  #addText(end: number): void {
    const text = this.#source.text.slice(this.#at, end);
    this.#at = end;
    const trimmed = text.trimEnd();
    if (trimmed === "") {
      this.#space += text;
      return;
    }
    this.#add({ type: "text", text: this.#isBehindRegion ? trimmed.trimStart() : this.#space + trimmed });
    this.#isBehindRegion = false;
    this.#hasProse = true;
    this.#space = text.slice(trimmed.length);
  }

  /** Lets go of what nothing looks back at. */
  #forget(): void {
    const done = this.#at - kept;
    if (done < kept * 8) return;
    this.#source.text = this.#source.text.slice(done);
    this.#base += done;
    this.#at -= done;
    this.#regionEnd = Math.max(0, this.#regionEnd - done);
    this.#exampleEnd = this.#exampleEnd < done ? -1 : this.#exampleEnd - done;
    this.#lineChecked -= done;
  }
}
