import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { OutputReader } from "./output-owners.ts";
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
