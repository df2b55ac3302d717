import { expect, test } from "vitest";

import { createImageCache } from "./image-cache.ts";
import type { ImageFile } from "./image-file.ts";

test("recall() makes a picture once, also for those who ask at the same time", async () => {
  const cache = createImageCache();
  let count = 0;
  const make = async (): Promise<ImageFile> => toImage(++count);

  const images = await Promise.all([cache.recall("a", make), cache.recall("a", make)]);
  images.push(await cache.recall("a", make));

  expect(count).toBe(1);
  expect(new Set(images).size).toBe(1);
});

test("recall() does not remember a failure", async () => {
  const cache = createImageCache();

  const failed = cache.recall("a", () => Promise.reject(new Error("no")));
  await expect(failed).rejects.toThrow("no");
  const image = await cache.recall("a", async () => toImage(3));

  expect(image.bytes).toHaveLength(3);
});

test("recall() forgets what was not used for the longest time when there are too many bytes", async () => {
  const cache = createImageCache({ maxBytes: 10 });
  const made: string[] = [];
  const ask = (key: string, length: number): Promise<ImageFile> =>
    cache.recall(key, async () => {
      made.push(key);
      return toImage(length);
    });

  for (const [key, length] of [
    ["a", 4],
    ["b", 4],
    ["a", 4],
    ["c", 4],
    ["a", 4],
    ["b", 4],
    ["huge", 11],
    ["huge", 11],
  ] as const) {
    await ask(key, length);
  }

  expect(made).toEqual(["a", "b", "c", "b", "huge", "huge"]);
});

test("digest() is the same for the same bytes, and another for others", () => {
  const cache = createImageCache();
  const bytes = new Uint8Array([1, 2, 3]);

  expect(cache.digest(bytes)).toBe(cache.digest(bytes));
  expect(cache.digest(bytes)).toBe(cache.digest(new Uint8Array([1, 2, 3])));
  expect(cache.digest(bytes)).not.toBe(cache.digest(new Uint8Array([1, 2, 4])));
});

function toImage(length: number): ImageFile {
  return { name: "x", mediaType: "image/png", bytes: new Uint8Array(length) };
}
