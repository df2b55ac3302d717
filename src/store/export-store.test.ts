import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import type { Store } from "../core/store.ts";
import { exportStore } from "./export-store.ts";
import { importStore } from "./import-store.ts";
import { memoryStore } from "./memory-store.ts";
import { sqliteStore } from "./sqlite/sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "kitbag-export-"));
let files = 0;

afterAll(() => rmSync(folder, { recursive: true }));

const drivers: readonly { readonly from: string; readonly to: string }[] = [
  { from: "memory", to: "memory" },
  { from: "sqlite", to: "memory" },
  { from: "memory", to: "sqlite" },
  { from: "sqlite", to: "sqlite" },
];

test.for(drivers)("importStore() reads what exportStore() wrote, from $from to $to", async ({ from, to }) => {
  const source = await filled(await openStore(from));
  const target = await openStore(to);

  const lines = await exportLines(source);
  const counts = await importStore(target, toSource(lines));

  expect(counts).toEqual({ values: 3, entries: 1203, blobs: 3 });
  expect(await contentOf(target)).toEqual(await contentOf(source));
  await source.close();
  await target.close();
});

test("exportStore() writes lines of JSON", async () => {
  const store = memoryStore({ now: () => 1000 });
  await store.kv.set("key", { a: [1] });
  await store.kv.set("short", true, { expiresInMs: 5000 });
  await store.log.append("stream", ["a"]);
  await store.blobs.put(Buffer.from("bytes"));

  expect(await exportLines(store)).toMatchInlineSnapshot(`
    [
      "{"type":"store","version":1}
    ",
      "{"type":"value","key":"key","value":{"a":[1]}}
    ",
      "{"type":"value","key":"short","value":true,"expiresInMs":5000}
    ",
      "{"type":"entry","stream":"stream","time":1000,"value":"a"}
    ",
      "{"type":"blob","digest":"sha256:277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9","size":5}
    ",
      "{"type":"bytes","base64":"Ynl0ZXM="}
    ",
      "{"type":"end","values":2,"entries":1,"blobs":1}
    ",
    ]
  `);
});

test("exportStore() and importStore() keep what is left of a value's time", async () => {
  let time = 1000;
  const source = memoryStore({ now: () => time });
  await source.kv.set("key", 1, { expiresInMs: 5000 });
  time += 2000;
  const target = memoryStore({ now: () => time });

  await importStore(target, toSource(await exportLines(source)));
  const before = await target.kv.list();
  time += 3000;

  expect(before).toMatchObject([["key", { expiresInMs: 3000 }]]);
  expect(await target.kv.get("key")).toBeUndefined();
});

test.for(["memory", "sqlite"])("importStore() keeps the times of entries, in %s", async (driver) => {
  let time = 1000;
  const source = memoryStore({ now: () => time });
  await source.log.append("stream", ["a", "b"]);
  time = 5000;
  await source.log.append("stream", ["c"]);
  const target = await openStore(driver);

  await importStore(target, toSource(await exportLines(source)));

  expect(await target.log.read("stream")).toEqual(await source.log.read("stream"));
  await target.close();
});

test.for([
  ["a value", (store: Store) => store.kv.set("there", 1), "there"],
  ["a stream", (store: Store) => store.log.append("there", [1]), "there"],
  ["a blob", (store: Store) => store.blobs.put(new Uint8Array(1)), /^sha256:/],
] as const)("importStore() refuses a store that has %s", async ([, write, where]) => {
  const target = memoryStore();
  await write(target);

  const imported = importStore(target, toSource(await exportLines(memoryStore())));

  await expect(imported).rejects.toMatchObject({
    code: "store-conflict",
    details: { where: typeof where === "string" ? where : expect.stringMatching(where), expected: "an empty store" },
  });
});

test("importStore() says at which line an export is cut off, wherever that is", async () => {
  const lines = await exportLines(await filled(memoryStore()));
  for (const kept of [0, 1, 2, 500, lines.length - 3, lines.length - 1]) {
    const imported = importStore(memoryStore(), toSource(lines.slice(0, kept)));

    await expect(imported).rejects.toMatchObject({
      code: "store-value-invalid",
      details: { where: `line ${kept + 1} of the export` },
    });
  }
});

test.for(["-1", "0.5", "1e300", '"now"', "null"])("importStore() refuses an entry of the time %s", async (time) => {
  const line = `{"type":"entry","stream":"stream","time":${time},"value":1}\n`;

  const imported = importStore(memoryStore(), toSource([`${head}\n`, line]));

  await expect(imported).rejects.toMatchObject({ details: { where: "line 2 of the export" } });
});

const head = '{"type":"store","version":1}';
const abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

test.for([
  ["nothing", []],
  ["no JSON", ["{"]],
  ["a list", ["[]"]],
  ["a number", ["5"]],
  ["another type", [head, '{"type":"job"}']],
  ["a type that is no text", [head, '{"type":["value"]}']],
  ["__proto__ as type", [head, '{"type":"__proto__"}']],
  ["another version", ['{"type":"store","version":2}']],
  ["no first line", ['{"type":"end","values":0,"entries":0,"blobs":0}']],
  ["a second first line", [head, head]],
  ["a value without a key", [head, '{"type":"value","value":1}']],
  ["a value that is none", [head, '{"type":"value","key":"a"}', '{"type":"end","values":1,"entries":0,"blobs":0}']],
  ["bytes without a blob", [head, '{"type":"bytes","base64":"YWJj"}']],
  ["a blob of other bytes", [head, `{"type":"blob","digest":"${abc}","size":3}`, '{"type":"bytes","base64":"eHl6"}']],
  [
    "a blob with too many bytes",
    [head, `{"type":"blob","digest":"${abc}","size":2}`, '{"type":"bytes","base64":"YWJj"}'],
  ],
  ["a blob without its bytes", [head, `{"type":"blob","digest":"${abc}","size":3}`, '{"type":"bytes","base64":""}']],
  ["other counts", [head, '{"type":"end","values":1,"entries":0,"blobs":0}']],
  ["something after the end", [head, '{"type":"end","values":0,"entries":0,"blobs":0}', head]],
] as const)("importStore() refuses %s", async ([, lines]) => {
  const imported = importStore(memoryStore(), toSource(lines.map((line) => `${line}\n`)));

  await expect(imported).rejects.toMatchObject({ code: "store-value-invalid" });
});

test("importStore() rejects with what the store rejects with", async () => {
  const target = memoryStore();
  const lines = [
    head,
    JSON.stringify({ type: "value", key: "", value: 1 }),
    '{"type":"end","values":1,"entries":0,"blobs":0}',
  ];

  await expect(importStore(target, toSource(lines.map((line) => `${line}\n`)))).rejects.toMatchObject({
    code: "store-key-invalid",
  });
});

test("exportStore() throws what the sink throws", async () => {
  const failure = new Error("the disk is full");

  await expect(
    exportStore(await filled(memoryStore()), () => {
      throw failure;
    }),
  ).rejects.toBe(failure);
});

async function openStore(driver: string): Promise<Store> {
  files += 1;
  return driver === "memory" ? memoryStore() : sqliteStore({ file: join(folder, String(files), "kitbag.db") });
}

async function filled(store: Store): Promise<Store> {
  await store.kv.set("__proto__", { text: "line\nfeed \u2028 \u{1F600}" });
  await store.kv.set("a", null);
  await store.kv.set("b", [1, "\uD800"]);
  await store.log.append(
    "long",
    Array.from({ length: 1200 }, (_, index) => ({ index })),
  );
  await store.log.append("short\nname", ["a", "b", "c"]);
  await store.blobs.put(new Uint8Array());
  await store.blobs.put(Buffer.from("bytes"));
  await store.blobs.put(Buffer.alloc(500_000, "abc"));
  return store;
}

async function contentOf(store: Store): Promise<unknown> {
  const values = (await store.kv.list()).map(([key, { value }]) => [key, value]);
  const streams: unknown[] = [];
  for (const name of await store.log.streams()) {
    const entries = await store.log.read(name, { limit: 10_000 });
    streams.push([name, entries.map(({ position, value }) => [position, value])]);
  }
  return { values, streams, blobs: await store.blobs.list() };
}

async function exportLines(store: Store): Promise<string[]> {
  const lines: string[] = [];
  await exportStore(store, (line) => void lines.push(line));
  return lines;
}

/** The lines as bytes, in pieces that end anywhere. */
async function* toSource(lines: readonly string[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(lines.join(""));
  for (let offset = 0; offset < bytes.length; offset += 4099) yield bytes.subarray(offset, offset + 4099);
}
