import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { KitbagError } from "../../../core/errors.ts";
import type { KeyValueStore } from "../../../core/store.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { sqliteStore } from "../../../store/sqlite/sqlite-store.ts";
import { type Kept, Shelf } from "./shelf.ts";

test("find() ranks a text whose neighbour has the words above one that has nothing", async () => {
  const shelf = new Shelf<Kept>(memoryStore().kv, "s:");
  await put(shelf, ["Which colour shall the boat have?", "Green, as always."], "talk");
  await put(shelf, ["Let us meet on Monday."], "other");

  const hits = await shelf.find("the colour of the boat", 10);

  expect(hits.map(({ row }) => row.text)).toEqual(["Which colour shall the boat have?", "Green, as always."]);
});

test("find() takes texts of different groups for no neighbours", async () => {
  const shelf = new Shelf<Kept>(memoryStore().kv, "s:");
  await put(shelf, ["Which colour shall the boat have?"], "one");
  await put(shelf, ["Green, as always."], "two");

  expect(await shelf.find("the colour of the boat", 10)).toHaveLength(1);
});

test("find() counts the common words of old texts, of which only the newest are read at first", async () => {
  const shelf = new Shelf<Kept>(memoryStore().kv, "s:");
  await put(shelf, ["harbour with an old walrus"], "first");
  await put(shelf, ["harbour with a walrus in the rain"], "second");
  for (let group = 0; group < 12; group += 1) {
    await put(
      shelf,
      Array.from({ length: 300 }, (_, index) => `harbour number ${group * 300 + index} in the rain`),
      `${group}`,
    );
  }

  const hits = await shelf.find("walrus rain harbour", 2);

  expect(hits.map(({ row }) => row.text)).toEqual(["harbour with a walrus in the rain", "harbour with an old walrus"]);
});

test("put() again, after a process died, keeps everything once", async () => {
  const shelf = new Shelf<Kept>(memoryStore().kv, "s:");
  const rows = [{ text: "red kite" }, { text: "blue kite" }];
  const first = await shelf.reserve(rows);
  await shelf.put(first, rows.slice(0, 1));

  await shelf.put(first, rows);
  await shelf.put(first, rows);

  expect((await shelf.find("kite", 10)).map(({ row }) => row.text).toSorted()).toEqual(["blue kite", "red kite"]);
  expect(await shelf.totals()).toMatchObject({ texts: 2, words: 4 });
});

test("reserve() gives each number once, whatever writes at the same time", async () => {
  const shelf = new Shelf<Kept>(memoryStore().kv, "s:");

  await Promise.all(
    Array.from({ length: 30 }, (_, index) => put(shelf, [`kite ${index}`, `kite again ${index}`], `${index}`)),
  );

  const numbers = (await listAll(shelf.list())).map(({ number }) => number);
  expect(new Set(numbers).size).toBe(60);
  expect((await shelf.find("kite", 100)).map(({ number }) => number)).toHaveLength(numbers.length);
});

test("remove() leaves no word of a text in the store, however many texts have the same words", async () => {
  const { kv } = memoryStore();
  const shelf = new Shelf<Kept>(kv, "s:");
  const [first] = await put(shelf, ["the secret is xyzzy"], "first");
  for (let group = 0; group < 3; group += 1) {
    await put(
      shelf,
      Array.from({ length: 300 }, (_, index) => `secret ${group} ${index}`),
      `${group}`,
    );
  }

  await shelf.remove(first ?? 0);

  expect(await shelf.find("xyzzy", 10)).toEqual([]);
  expect((await shelf.find("secret", 2000)).map(({ number }) => number)).not.toContain(first);
  expect(await shelf.totals()).toMatchObject({ texts: 900 });
  expect(JSON.stringify(await kv.list({ prefix: "s:row:", limit: 2000 }))).not.toContain("xyzzy");
});

test("a shelf in SQLite is found again by another process", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-shelf-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "kitbag.db");
  const store = await sqliteStore({ file });
  await put(new Shelf<Kept>(store.kv, "s:"), ["an invoice with the number 4711"], "one");
  await store.close();

  const again = await sqliteStore({ file });
  const hits = await new Shelf<Kept>(again.kv, "s:").find("invoice 4711", 5);
  await again.close();

  expect(hits).toHaveLength(1);
});

test("methods reject with what the store rejects with", async () => {
  const { kv } = memoryStore();
  const broken: KeyValueStore = {
    ...kv,
    set: () => Promise.reject(new KitbagError("store-closed", { operation: "kv.set" })),
  };
  const shelf = new Shelf<Kept>(broken, "s:");

  await expect(shelf.reserve([{ text: "kite" }])).rejects.toThrow("the store is closed");
  await expect(shelf.put(1, [{ text: "kite" }])).rejects.toThrow("the store is closed");
});

test.for(["", "   ", "…!?", "a".repeat(100_000), "\u0000\u{1F600}"])("find() takes any query", async (query) => {
  const shelf = new Shelf<Kept>(memoryStore().kv, "s:");
  await put(shelf, ["kite"], "one");

  expect(await shelf.find(query, 10)).toEqual([]);
});

async function put(shelf: Shelf<Kept>, texts: readonly string[], group: string): Promise<readonly number[]> {
  const rows = texts.map((text) => ({ text }));
  const first = await shelf.reserve(rows, { group });
  await shelf.put(first, rows);
  return rows.map((_, index) => first + index);
}

async function listAll<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
