import type { CappedOutput } from "../../core/outcome.ts";
import { checkHandle, checkWhole, longestCharacter, readPage, type OutputPage, type PageOptions } from "./read-page.ts";
import { isObject } from "../find-wrong-option.ts";
import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { OutputBlobs } from "./recent-blobs.ts";
import { searchOutput, type OutputMatches, type SearchOutputOptions } from "./search-output.ts";
import { sliceOutput, type OutputSlice, type SliceOutputOptions } from "./slice-output.ts";

/** Keeps outputs that are too large to hand over. */
export interface OutputKeeper {
  keep(text: string): Promise<CappedOutput>;
  read(handle: string, options?: PageOptions): Promise<OutputPage>;
  search(handle: string, options: SearchOutputOptions): Promise<OutputMatches>;
  slice(handle: string, options?: SliceOutputOptions): Promise<OutputSlice>;
}

const defaultPage = 64 * 1024;

/** Makes a keeper that keeps outputs in `blobs`. */
export function createOutputKeeper(blobs: OutputBlobs): OutputKeeper {
  return {
    async keep(text) {
      const bytes = new TextEncoder().encode(text);
      return { handle: `output:${await blobs.put(bytes)}`, bytes: bytes.length };
    },
    async read(handle, options = {}) {
      const range = checkRange(options);
      return readPage(blobs, checkHandle(handle), range);
    },
    search: (handle, options) => searchOutput(blobs, handle, options),
    slice: (handle, options) => sliceOutput(blobs, handle, options),
  };
}

function checkRange(options: PageOptions): Required<PageOptions> {
  if (!isObject(options)) {
    const found = showValue(options);
    throw new KitbagError("option-invalid", { option: "options", found, expected: "an object" });
  }
  const { offset = 0, length = defaultPage } = options;
  checkWhole("offset", offset, 0);
  checkWhole("length", length, longestCharacter);
  return { offset, length };
}
