import { hash } from "node:crypto";

import type { CappedOutput } from "../../core/outcome.ts";
import {
  checkHandle,
  checkWhole,
  longestCharacter,
  readPage,
  type OutputPage,
  type PageOptions,
  searchOutput,
  type OutputMatches,
  type SearchOutputOptions,
} from "./read-output.ts";
import { KitbagError } from "../../core/errors.ts";
import { isObject, showValue } from "../../core/json.ts";
import type { Quotas } from "../quotas/quotas.ts";
import type { OutputOwners, OutputBlobs } from "./kept-outputs.ts";
import { sliceOutput, type OutputSlice, type SliceOutputOptions } from "./slice-output.ts";

/** Keeps outputs that are too large to hand over. */
export interface OutputKeeper {
  /** Keeps an output for a user. @throws {KitbagError} `quota-reached` */
  keep(output: string | Uint8Array, user: string | undefined): Promise<CappedOutput>;
  /** All bytes of an output that is kept for a user. @throws {KitbagError} `output-missing` */
  readBytes(handle: string, user: string | undefined): Promise<Uint8Array>;
  read(handle: string, options?: PageOptions): Promise<OutputPage>;
  search(handle: string, options: SearchOutputOptions): Promise<OutputMatches>;
  slice(handle: string, options?: SliceOutputOptions): Promise<OutputSlice>;
}

const defaultPage = 64 * 1024;

/** Makes a keeper that keeps outputs in `blobs`, each for its owners. */
export function createOutputKeeper(blobs: OutputBlobs, owners: OutputOwners, quotas?: Quotas): OutputKeeper {
  /** Takes room in the user's quota, unless the same output is kept for the user already. Answers with how to give it back. */
  async function takeRoom(bytes: Uint8Array, user: string | undefined): Promise<(() => Promise<void>) | undefined> {
    const account = quotas?.of(user);
    if (quotas === undefined || user === undefined || account?.limits.bytes === undefined) return undefined;
    if (await owners.has(`sha256:${hash("sha256", bytes)}`, user)) return undefined;
    await quotas.bytes.add(account, bytes.length);
    return () => quotas.bytes.add(account, -bytes.length);
  }

  return {
    async keep(output, user) {
      const bytes = typeof output === "string" ? new TextEncoder().encode(output) : output;
      const giveBack = await takeRoom(bytes, user);
      try {
        const digest = await blobs.put(bytes);
        await owners.note(digest, user);
        return { handle: `output:${digest}`, bytes: bytes.length };
      } catch (cause) {
        await giveBack?.();
        throw cause;
      }
    },
    async readBytes(handle, user) {
      const digest = checkHandle(handle);
      await owners.check(digest, { user });
      const bytes = await blobs.slice(digest, 0, (await blobs.size(digest)) ?? 0);
      if (bytes === undefined) throw new KitbagError("output-missing", { handle });
      return bytes;
    },
    async read(handle, options = {}) {
      const range = checkRange(options);
      const digest = checkHandle(handle);
      await owners.check(digest, options);
      return readPage(blobs, digest, range);
    },
    async search(handle, options) {
      await owners.check(checkHandle(handle), options ?? {});
      return searchOutput(blobs, handle, options);
    },
    async slice(handle, options) {
      await owners.check(checkHandle(handle), options ?? {});
      return sliceOutput(blobs, handle, options);
    },
  };
}

function checkRange(options: PageOptions): Required<Omit<PageOptions, "user">> {
  if (!isObject(options)) {
    const found = showValue(options);
    throw new KitbagError("option-invalid", { option: "options", found, expected: "an object" });
  }
  const { offset = 0, length = defaultPage } = options;
  checkWhole("offset", offset, 0);
  checkWhole("length", length, longestCharacter);
  return { offset, length };
}
