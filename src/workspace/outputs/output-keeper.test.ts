import { expect, test } from "vitest";

import { isKitbagError } from "../../core/errors.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createUsers } from "../users.ts";
import { createOutputKeeper, type OutputKeeper } from "./output-keeper.ts";
import type { OutputPage } from "./read-output.ts";
import { createOutputOwners, type OutputOwners, createRecentBlobs } from "./kept-outputs.ts";

// One to four bytes a character, a byte order mark in the middle, and one at the beginning.
const text = "\uFEFFaé€🙂b\uFEFFc🙂🙂é\u0000€€z";
const bytes = new TextEncoder().encode(text);

test.for([4, 5, 6, 7, 8, 9, 13, bytes.length - 1, bytes.length, bytes.length + 1, 1000])(
  "readOutput() gives the whole text in pages of %i bytes",
  async (length) => {
    const keeper = createOutputKeeper(createRecentBlobs(1000), owners());
    const { handle } = await keeper.keep(text, undefined);

    const pages = await readPages(keeper, handle, length);

    expect(pages.map((page) => page.text).join("")).toBe(text);
    expect(pages.every((page) => new TextEncoder().encode(page.text).length <= length)).toBe(true);
    expect(pages.every((page) => page.bytes === bytes.length)).toBe(true);
    expect(pages.slice(1).map((page) => page.offset)).toEqual(pages.slice(0, -1).map((page) => page.nextOffset));
  },
);

test("readOutput() shows no broken character, wherever a page begins and ends", async () => {
  const keeper = createOutputKeeper(createRecentBlobs(1000), owners());
  const { handle } = await keeper.keep(text, undefined);
  const wrong: unknown[] = [];

  for (let offset = 0; offset <= bytes.length + 2; offset++) {
    for (let length = 4; length <= bytes.length + 2; length++) {
      const page = await keeper.read(handle, { offset, length });
      const end = page.nextOffset ?? Math.max(bytes.length, page.offset);
      const expected = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(page.offset, end));
      const isWhole = !page.text.includes("\uFFFD") && page.text === expected;
      const isForward = page.nextOffset === undefined || (page.nextOffset > page.offset && page.text !== "");
      if (!isWhole || !isForward || page.offset < offset || page.offset > offset + 3)
        wrong.push({ offset, length, page });
    }
  }

  expect(wrong).toEqual([]);
});

test("readOutput() gives an empty page behind the end", async () => {
  const keeper = createOutputKeeper(createRecentBlobs(1000), owners());
  const { handle } = await keeper.keep("hello", undefined);

  expect(await keeper.read(handle, { offset: 5 })).toEqual({ text: "", offset: 5, bytes: 5 });
  expect(await keeper.read(handle, { offset: 2 ** 40 })).toEqual({ text: "", offset: 2 ** 40, bytes: 5 });
});

test("readOutput() gives 64 KiB unless told otherwise", async () => {
  const keeper = createOutputKeeper(createRecentBlobs(1_000_000), owners());
  const { handle } = await keeper.keep("x".repeat(100_000), undefined);

  const page = await keeper.read(handle);

  expect(page).toEqual({ text: "x".repeat(65_536), offset: 0, bytes: 100_000, nextOffset: 65_536 });
});

test("readOutput() reads from a store as from memory", async () => {
  const store = memoryStore();
  const keeper = createOutputKeeper(store.blobs, owners());
  const { handle } = await keeper.keep(text, undefined);

  const pages = await readPages(keeper, handle, 7);

  expect(pages.map((page) => page.text).join("")).toBe(text);
});

test.for([
  "",
  "output:",
  "output:sha256:",
  `output:sha256:${"0".repeat(64)}`,
  `output:sha256:${"0".repeat(63)}G`,
  "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
  "output:../../secrets",
  "__proto__",
  undefined,
  null,
  3,
])("readOutput() says that nothing is kept under %o", async (handle) => {
  const keeper = createOutputKeeper(createRecentBlobs(1000), owners());
  await keeper.keep("hello", undefined);

  const failure = await keeper.read(handle as string).catch((cause: unknown) => cause);

  expect(isKitbagError(failure, "output-missing")).toBe(true);
});

test.for([
  [null, "options"],
  [{ offset: -1 }, "offset"],
  [{ offset: 1.5 }, "offset"],
  [{ offset: Number.NaN }, "offset"],
  [{ offset: "0" }, "offset"],
  [{ length: 0 }, "length"],
  [{ length: 3 }, "length"],
  [{ length: Number.POSITIVE_INFINITY }, "length"],
  [{ length: 10n }, "length"],
] as const)("readOutput() refuses %o", async ([options, option]) => {
  const keeper = createOutputKeeper(createRecentBlobs(1000), owners());
  const { handle } = await keeper.keep("hello", undefined);

  const failure = await keeper.read(handle, options as never).catch((cause: unknown) => cause);

  expect(isKitbagError(failure, "option-invalid") && failure.details.option).toBe(option);
});

async function readPages(keeper: OutputKeeper, handle: string, length: number): Promise<OutputPage[]> {
  const pages: OutputPage[] = [];
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const page: OutputPage = await keeper.read(handle, { offset, length });
    pages.push(page);
    offset = page.nextOffset;
  }
  return pages;
}

function owners(): OutputOwners {
  return createOutputOwners(memoryStore().kv, createUsers(undefined));
}

test("readBytes() gives what was kept to its user, and says if it is gone", async () => {
  const blobs = createRecentBlobs(1000);
  const keeper = createOutputKeeper(blobs, owners());
  const { handle } = await keeper.keep(new Uint8Array([0, 255, 1]), undefined);

  expect([...(await keeper.readBytes(handle, undefined))]).toEqual([0, 255, 1]);
  await expect(keeper.readBytes("output:1", undefined)).rejects.toMatchObject({ code: "output-missing" });
  await keeper.keep("x".repeat(1000), undefined);
  await expect(keeper.readBytes(handle, undefined)).rejects.toMatchObject({ code: "output-missing" });
});
