import * as fc from "fast-check";
import { expect, test } from "vitest";

import { memoryStore } from "../../store/memory-store.ts";
import { createUsers } from "../users.ts";
import { createOutputKeeper, type OutputKeeper } from "./output-keeper.ts";
import { createOutputOwners, type OutputOwners, createRecentBlobs } from "./kept-outputs.ts";
import type { OutputMatch, SearchOutputOptions } from "./read-output.ts";

test("searchOutput() finds words, whatever their case, and says what stands around them", async () => {
  const { keeper, handle } = await keep(`${"é".repeat(500)} the Needle, ${"x".repeat(500)} a needle`);

  const { matches, nextOffset } = await keeper.search(handle, { text: "NEEDLE" });

  expect(matches.map(({ offset }) => offset)).toEqual([1005, 1516]);
  expect(matches[0]?.context).toBe(`${"é".repeat(155)} the Needle, ${"x".repeat(158)}`);
  expect(nextOffset).toBeUndefined();
});

test("searchOutput() answers with so many places, and where to go on", async () => {
  const { keeper, handle } = await keep("ab ".repeat(50));

  const first = await keeper.search(handle, { text: "ab", limit: 30 });
  const second = await keeper.search(handle, { text: "ab", limit: 30, offset: first.nextOffset ?? 0 });

  expect(first.matches).toHaveLength(30);
  expect(second.matches).toHaveLength(20);
  expect([...first.matches, ...second.matches].map(({ offset }) => offset)).toEqual(
    Array.from({ length: 50 }, (_, index) => index * 3),
  );
});

test("searchOutput() finds words that stand on two pages, once", async () => {
  const page = 1024 * 1024;
  const text = `${"€".repeat(Math.floor((page - 5) / 3))}needle${"-".repeat(page)}needle`;
  const { keeper, handle } = await keep(text);

  const { matches } = await keeper.search(handle, { text: "needle" });

  expect(matches.map(({ offset }) => offset)).toEqual([
    Buffer.byteLength(text.slice(0, text.indexOf("needle"))),
    Buffer.byteLength(text) - 6,
  ]);
});

test("searchOutput() looks for signs as they are, not for a pattern", async () => {
  const signs = String.raw`a.*b(c)[d]{e}^f$|g\h+i?/j-k`;
  const { keeper, handle } = await keep(`axxb ${signs}`);

  expect((await keeper.search(handle, { text: signs })).matches).toHaveLength(1);
  expect((await keeper.search(handle, { text: "a.*b" })).matches).toHaveLength(1);
});

test("searchOutput() finds what indexOf() finds", async () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "é", "🙂"), maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(
      letters,
      fc.string({ unit: fc.constantFrom("a", "🙂"), minLength: 1, maxLength: 2 }),
      async (text, words) => {
        const { keeper, handle } = await keep(text);

        const found = await keeper.search(handle, { text: words, limit: 1000 });

        expect(found.matches.map(({ offset }) => offset)).toEqual(offsetsOf(text, words));
        expect(found.matches.every(({ context }: OutputMatch) => context.isWellFormed())).toBe(true);
      },
    ),
  );
});

test("searchOutput() takes a time that grows with the output only", async () => {
  const { keeper, handle } = await keep("a".repeat(3_000_000));

  const { matches } = await keeper.search(handle, { text: `${"a".repeat(999)}b` });

  expect(matches).toEqual([]);
});

test.for<[what: string, options: unknown]>([
  ["nothing", undefined],
  ["no words", {}],
  ["an empty text", { text: "" }],
  ["a long text", { text: "a".repeat(1001) }],
  ["half a character", { text: "\ud83d" }],
  ["a number", { text: 5 }],
  ["a wrong offset", { text: "a", offset: -1 }],
  ["no place", { text: "a", limit: 0 }],
  ["too many places", { text: "a", limit: 1001 }],
])("searchOutput() refuses %s", async ([, options]) => {
  const { keeper, handle } = await keep("a");

  const search = keeper.search(handle, options as SearchOutputOptions);

  await expect(search).rejects.toMatchObject({ code: "option-invalid" });
});

test.for(["", "output:", "output:sha256:00", `output:sha256:${"0".repeat(64)}`, "sha256:../a", null])(
  "searchOutput() finds nothing under the handle %s",
  async (handle) => {
    const { keeper } = await keep("a");

    await expect(keeper.search(handle as string, { text: "a" })).rejects.toMatchObject({ code: "output-missing" });
    await expect(keeper.slice(handle as string)).rejects.toMatchObject({ code: "output-missing" });
  },
);

async function keep(text: string): Promise<{ keeper: OutputKeeper; handle: string }> {
  const keeper = createOutputKeeper(createRecentBlobs(10_000_000), owners());
  const { handle } = await keeper.keep(text, undefined);
  return { keeper, handle };
}

function offsetsOf(text: string, words: string): number[] {
  const offsets: number[] = [];
  for (let index = text.indexOf(words); index !== -1; index = text.indexOf(words, index + words.length)) {
    offsets.push(Buffer.byteLength(text.slice(0, index)));
  }
  return offsets;
}

function owners(): OutputOwners {
  return createOutputOwners(memoryStore().kv, createUsers(undefined));
}
