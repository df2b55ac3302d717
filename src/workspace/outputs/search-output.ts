import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { checkHandle, checkWhole, readPage } from "./read-page.ts";
import type { OutputReader } from "./output-owners.ts";
import type { OutputBlobs } from "./recent-blobs.ts";

/** What to look for in an output. */
export interface SearchOutputOptions extends OutputReader {
  /** Words as they stand there; upper and lower case are the same. */
  readonly text: string;
  /** Where to begin, in bytes. @default 0 */
  readonly offset?: number;
  /** How many places to answer with, at most 1000. @default 20 */
  readonly limit?: number;
}

/** A place where the words stand. */
export interface OutputMatch {
  /** Where they begin, in bytes: give it to `readOutput`. */
  readonly offset: number;
  /** What stands around them. */
  readonly context: string;
}

/** The places where the words stand, in order. */
export interface OutputMatches {
  readonly matches: readonly OutputMatch[];
  /** Where to go on; none if there are no more. */
  readonly nextOffset?: number;
}

const pageBytes = 1024 * 1024;
/** So much of a page is looked at again with the next one: words may stand on both. */
const overlapBytes = 16 * 1024;
const maxTextLength = 1000;
const maxLimit = 1000;
const contextLength = 160;

/**
 * Finds words in an output that is kept. Takes a time that grows with the output, whatever the words are.
 *
 * @throws {KitbagError} `output-missing`, or `option-invalid` if an option is wrong.
 */
export async function searchOutput(
  blobs: OutputBlobs,
  handle: string,
  options: SearchOutputOptions,
): Promise<OutputMatches> {
  const { text, offset: start, limit } = checkSearch(options);
  const digest = checkHandle(handle);
  const words = new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`), "giu");
  const matches: OutputMatch[] = [];
  let offset = start;
  for (;;) {
    const page = await readPage(blobs, digest, { offset, length: pageBytes });
    const isLast = page.nextOffset === undefined;
    const end = isLast ? Infinity : page.nextOffset - overlapBytes;
    for (const match of findIn(page, words)) {
      if (match.offset >= end) break;
      if (matches.length === limit) return { matches, nextOffset: match.offset };
      matches.push(match);
    }
    if (isLast) return { matches };
    offset = end;
  }
}

function* findIn(page: { readonly text: string; readonly offset: number }, words: RegExp): Generator<OutputMatch> {
  let { offset } = page;
  let last = 0;
  for (const { index, 0: found } of page.text.matchAll(words)) {
    offset += Buffer.byteLength(page.text.slice(last, index));
    last = index;
    const context = page.text.slice(Math.max(0, index - contextLength), index + found.length + contextLength);
    // A character of two units may have been cut at either end.
    yield { offset, context: context.toWellFormed() };
  }
}

function checkSearch(options: SearchOutputOptions): Required<Omit<SearchOutputOptions, "user">> {
  const { text, offset = 0, limit = 20 } = options ?? {};
  if (typeof text !== "string" || text === "" || text.length > maxTextLength || !text.isWellFormed()) {
    const expected = `a text of 1 to ${maxTextLength} characters`;
    throw new KitbagError("option-invalid", { option: "text", found: showValue(text), expected });
  }
  checkWhole("offset", offset, 0);
  checkWhole("limit", limit, 1, maxLimit);
  return { text, offset, limit };
}
