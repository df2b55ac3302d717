import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { CappedOutput } from "../core/outcome.ts";
import { isObject } from "./find-wrong-option.ts";
import type { OutputBlobs } from "./recent-blobs.ts";

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
export interface PageOptions {
  /** In bytes. @default 0 */
  readonly offset?: number;
  /** In bytes, at least 4: the longest character has so many. @default 65536 */
  readonly length?: number;
}

/** Keeps outputs that are too large to hand over. */
export interface OutputKeeper {
  keep(text: string): Promise<CappedOutput>;
  read(handle: string, options?: PageOptions): Promise<OutputPage>;
}

const handleGrammar = /^output:(sha256:[0-9a-f]{64})$/u;
const defaultPage = 64 * 1024;
const longestCharacter = 4;

/** Makes a keeper that keeps outputs in `blobs`. */
export function createOutputKeeper(blobs: OutputBlobs): OutputKeeper {
  return {
    async keep(text) {
      const bytes = new TextEncoder().encode(text);
      return { handle: `output:${await blobs.put(bytes)}`, bytes: bytes.length };
    },
    async read(handle, options = {}) {
      const { offset, length } = checkRange(options);
      const [, digest] = handleGrammar.exec(handle) ?? [];
      // A few bytes more, because the first ones may belong to a character that began before.
      const part = digest === undefined ? undefined : await blobs.slice(digest, offset, length + longestCharacter);
      const bytes = digest === undefined ? undefined : await blobs.size(digest);
      if (part === undefined || bytes === undefined)
        throw new KitbagError("output-missing", { handle: String(handle) });
      const begin = offset === 0 ? 0 : beginOfCharacter(part, 0);
      const isEnd = offset + begin + length >= bytes;
      const end = isEnd ? part.length : endOfCharacters(part, begin + length);
      // A byte order mark is a character like any other in the middle of a text.
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(part.subarray(begin, end));
      return { text, offset: offset + begin, bytes, ...(offset + end < bytes && { nextOffset: offset + end }) };
    },
  };
}

function checkRange(options: PageOptions): Required<PageOptions> {
  if (!isObject(options)) throw wrong("options", options, "an object");
  const { offset = 0, length = defaultPage } = options;
  if (!isWhole(offset, 0)) throw wrong("offset", offset, "a whole number from 0");
  if (!isWhole(length, longestCharacter)) throw wrong("length", length, `a whole number from ${longestCharacter}`);
  return { offset, length };
}

function isWhole(value: number, least: number): boolean {
  return Number.isSafeInteger(value) && value >= least;
}

function wrong(option: string, found: unknown, expected: string): KitbagError {
  return new KitbagError("option-invalid", { option, found: showValue(found), expected });
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
