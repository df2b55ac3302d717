import { KitbagError } from "../core/errors.ts";
import type { CappedOutput } from "../core/outcome.ts";
import type { Store } from "../core/store.ts";
import { memoryStore } from "../store/memory-store.ts";

/** A part of an output that is kept. */
export interface OutputPage {
  readonly text: string;
  readonly offset: number;
  /** Where the next page begins; none at the end. */
  readonly nextOffset?: number;
  /** Of the whole output. */
  readonly bytes: number;
}

/** Keeps outputs that are too large to hand over. */
export interface OutputKeeper {
  keep(text: string): Promise<CappedOutput>;
  read(handle: string, options?: { readonly offset?: number; readonly length?: number }): Promise<OutputPage>;
}

const handlePrefix = "output:";
const defaultPage = 64 * 1024;

/** How much is kept in memory when there is no store. */
const maxMemoryBytes = 256 * 1024 * 1024;

/**
 * Makes a keeper on `store`. Without one, outputs are kept in memory, the latest 256 MiB of them; reading an older one says that
 * it is gone.
 */
export function createOutputKeeper(given: Store | undefined): OutputKeeper {
  const store = given ?? memoryStore();
  const kept = new Map<string, number>();
  let total = 0;

  async function forgetOldest(digest: string, bytes: number): Promise<void> {
    if (kept.has(digest)) return;
    kept.set(digest, bytes);
    total += bytes;
    if (total <= maxMemoryBytes) return;
    for (const [oldest, size] of kept) {
      if (total <= maxMemoryBytes) break;
      kept.delete(oldest);
      total -= size;
    }
    await store.blobs.collect(new Set(kept.keys()));
  }

  return {
    async keep(text) {
      const bytes = new TextEncoder().encode(text);
      const digest = await store.blobs.put(bytes);
      if (given === undefined) await forgetOldest(digest, bytes.length);
      return { handle: handlePrefix + digest, bytes: bytes.length };
    },
    async read(handle, options = {}) {
      const { offset = 0, length = defaultPage } = options;
      checkRange(offset, length);
      const digest =
        typeof handle === "string" && handle.startsWith(handlePrefix) ? handle.slice(handlePrefix.length) : "";
      const size = digest === "" ? undefined : await store.blobs.size(digest);
      const part = size === undefined ? undefined : await store.blobs.slice(digest, offset, length);
      if (size === undefined || part === undefined) throw new KitbagError("output-missing", { handle: String(handle) });
      const whole = wholeCharacters(part, offset + part.length < size);
      const nextOffset = offset + whole.length;
      const text = new TextDecoder().decode(whole);
      return { text, offset, bytes: size, ...(nextOffset < size && { nextOffset }) };
    },
  };
}

function checkRange(offset: number, length: number): void {
  for (const [option, value, least] of [["offset", offset, 0] as const, ["length", length, 4] as const]) {
    if (Number.isSafeInteger(value) && value >= least) continue;
    throw new KitbagError("option-invalid", { option, found: String(value), expected: `a whole number from ${least}` });
  }
}

/** Leaves a character that is cut at the end of a page to the next one. */
function wholeCharacters(part: Uint8Array, hasMore: boolean): Uint8Array {
  if (!hasMore) return part;
  let end = part.length;
  while (end > 0 && isContinuation(part[end - 1])) end -= 1;
  if (end === 0) return part;
  const first = part[end - 1] ?? 0;
  const needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return part.length - (end - 1) >= needed ? part : part.subarray(0, end - 1);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
