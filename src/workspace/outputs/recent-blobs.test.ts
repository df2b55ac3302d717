import { expect, test } from "vitest";

import { createRecentBlobs } from "./kept-outputs.ts";

test("createRecentBlobs() keeps bytes under their digest", async () => {
  const blobs = createRecentBlobs(100);

  const digest = await blobs.put(bytes("hello"));

  expect(digest).toBe("sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  expect(await blobs.size(digest)).toBe(5);
  expect(await blobs.slice(digest, 1, 3)).toEqual(bytes("ell"));
  expect(await blobs.slice(digest, 4, 100)).toEqual(bytes("o"));
  expect(await blobs.slice(digest, 5, 1)).toEqual(bytes(""));
});

test("createRecentBlobs() forgets those that were put first, and only as many as it must", async () => {
  const blobs = createRecentBlobs(10);
  const first = await blobs.put(bytes("aaaa"));
  const second = await blobs.put(bytes("bbbb"));

  const third = await blobs.put(bytes("cccc"));

  expect(await blobs.size(first)).toBeUndefined();
  expect(await blobs.slice(first, 0, 1)).toBeUndefined();
  expect(await blobs.size(second)).toBe(4);
  expect(await blobs.size(third)).toBe(4);
});

test("createRecentBlobs() counts bytes that are put again once, as the latest", async () => {
  const blobs = createRecentBlobs(10);
  const first = await blobs.put(bytes("aaaa"));
  const second = await blobs.put(bytes("bbbb"));

  await blobs.put(bytes("aaaa"));
  await blobs.put(bytes("aaaa"));
  await blobs.put(bytes("cccc"));

  expect(await blobs.size(first)).toBe(4);
  expect(await blobs.size(second)).toBeUndefined();
});

test("createRecentBlobs() keeps the very last, however large it is", async () => {
  const blobs = createRecentBlobs(10);
  const small = await blobs.put(bytes("a"));

  const large = await blobs.put(bytes("b".repeat(100)));

  expect(await blobs.size(small)).toBeUndefined();
  expect(await blobs.size(large)).toBe(100);
});

test("createRecentBlobs() loses nothing when several are put at once", async () => {
  const blobs = createRecentBlobs(12);

  const digests = await Promise.all(["aaaa", "bbbb", "cccc"].map((text) => blobs.put(bytes(text))));

  expect(await Promise.all(digests.map((digest) => blobs.size(digest)))).toEqual([4, 4, 4]);
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
