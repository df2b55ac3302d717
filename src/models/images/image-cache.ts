import { createHash } from "node:crypto";

import type { ImageFile } from "./image-file.ts";

/** Remembers pictures that were downloaded or converted, so that it is done once a conversation and not at each step. */
export interface ImageCache {
  /** Answers with the cached value, or with the result of `make`, which runs once also for concurrent callers. */
  recall(key: string, make: () => Promise<ImageFile>): Promise<ImageFile>;
  /** The digest of some bytes; a buffer that was seen before is not hashed again. */
  digest(bytes: Uint8Array): string;
}

/** How much {@link createImageCache} keeps. */
export interface ImageCacheOptions {
  /** The size of all images together; the least recently used are evicted first. @default 134217728 */
  readonly maxBytes?: number;
}

/**
 * Makes an empty memory of pictures, for one conversation.
 *
 * @example
 * ```ts
 * import { createImageCache, prepareImages, toImagePart } from "kitbag/models";
 *
 * const cache = createImageCache();
 * const dot = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";
 * const prompt = [{ role: "user" as const, content: [await toImagePart(`data:image/gif;base64,${dot}`)] }];
 * const model = { provider: "google.generative-ai", supportedUrls: {} };
 * const [first, second] = [await prepareImages(prompt, model, { cache }), await prepareImages(prompt, model, { cache })];
 *
 * console.assert(first[0]?.content === second[0]?.content || JSON.stringify(first) === JSON.stringify(second));
 * ```
 */
export function createImageCache({ maxBytes = 128 * 1024 ** 2 }: ImageCacheOptions = {}): ImageCache {
  const kept = new Map<string, Promise<ImageFile>>();
  const sizes = new Map<string, number>();
  const digests = new WeakMap<Uint8Array, string>();
  let total = 0;

  function forget(key: string): void {
    kept.delete(key);
    total -= sizes.get(key) ?? 0;
    sizes.delete(key);
  }

  function keep(key: string, { bytes }: ImageFile): void {
    sizes.set(key, bytes.length);
    total += bytes.length;
    for (const oldest of sizes.keys()) {
      if (total <= maxBytes) break;
      forget(oldest);
    }
  }

  return {
    recall(key, make) {
      const found = kept.get(key);
      if (found !== undefined) {
        const size = sizes.get(key);
        if (size !== undefined) {
          sizes.delete(key);
          sizes.set(key, size);
        }
        return found;
      }
      const made = make();
      kept.set(key, made);
      // What failed may succeed the next time: a server that is back, a package that was installed.
      made.then(
        (image) => keep(key, image),
        () => forget(key),
      );
      return made;
    },
    digest(bytes) {
      const known = digests.get(bytes);
      if (known !== undefined) return known;
      const made = createHash("sha256").update(bytes).digest("base64");
      digests.set(bytes, made);
      return made;
    },
  };
}
