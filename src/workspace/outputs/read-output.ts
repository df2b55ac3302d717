import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { OutputReader, OutputBlobs } from "./kept-outputs.ts";

/** A part of an output that is kept. */
export interface OutputPage {
  readonly text: string;
  /** Where this page begins, in bytes: where it was asked to, or at the next whole character. */
  readonly offset: number;
  /** Where the next page begins; none at the end. */
  readonly nextOffset?: number;
  /** Of the whole output. */
  readonly bytes: number;
}

/** Which part of an output to read. */
export interface PageOptions extends OutputReader {
  /** In bytes. @default 0 */
  readonly offset?: number;
  /** In bytes, at least 4: the longest character has so many. @default 65536 */
  readonly length?: number;
}

const handleGrammar = /^output:(sha256:[0-9a-f]{64})$/u;
/** The longest character, in bytes. */
export const longestCharacter = 4;

/**
 * The digest of the bytes behind a handle.
 *
 * @throws {KitbagError} `output-missing` if it is no handle.
 */
export function checkHandle(handle: string): string {
  const [, digest] = handleGrammar.exec(handle) ?? [];
  if (digest === undefined) throw new KitbagError("output-missing", { handle: String(handle) });
  return digest;
}

/**
 * Reads a part of an output, in whole characters.
 *
 * @throws {KitbagError} `output-missing` if the bytes are not kept any more.
 */
export async function readPage(
  blobs: Pick<OutputBlobs, "size" | "slice">,
  digest: string,
  { offset, length }: Required<Omit<PageOptions, "user">>,
): Promise<OutputPage> {
  // A few bytes more, because the first ones may belong to a character that began before.
  const part = await blobs.slice(digest, offset, length + longestCharacter);
  const bytes = await blobs.size(digest);
  if (part === undefined || bytes === undefined)
    throw new KitbagError("output-missing", { handle: `output:${digest}` });
  const begin = offset === 0 ? 0 : beginOfCharacter(part, 0);
  const isEnd = offset + begin + length >= bytes;
  const end = isEnd ? part.length : endOfCharacters(part, begin + length);
  // A byte order mark is a character like any other in the middle of a text.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(part.subarray(begin, end));
  return { text, offset: offset + begin, bytes, ...(offset + end < bytes && { nextOffset: offset + end }) };
}

/**
 * Checks a number of an option.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkWhole(option: string, value: number, least: number, most?: number): void {
  if (Number.isSafeInteger(value) && value >= least && (most === undefined || value <= most)) return;
  const expected = `a whole number from ${least}${most === undefined ? "" : ` to ${most}`}`;
  throw new KitbagError("option-invalid", { option, found: showValue(value), expected });
}

/** The first place from `index` on where a character begins. */
function beginOfCharacter(part: Uint8Array, index: number): number {
  let begin = index;
  while (begin < part.length && isContinuation(part, begin)) begin += 1;
  return begin;
}

/** The last place up to `index` where a character begins, so that none before it is cut. */
function endOfCharacters(part: Uint8Array, index: number): number {
  let end = index;
  while (isContinuation(part, end)) end -= 1;
  return end;
}

function isContinuation(part: Uint8Array, index: number): boolean {
  return ((part[index] as number) & 0xc0) === 0x80;
}

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
/** How many bytes at the end of a page are searched again with the next page, because a match may begin on one and end on the other. */
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
