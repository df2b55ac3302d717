import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterAll, expect, test } from "vitest";

import { storeConformance } from "../../testing/store-conformance.ts";
import { sqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "kitbag-sqlite-"));
const clock = createClock();
let files = 0;

afterAll(() => rmSync(folder, { recursive: true }));

test.for(storeConformance(() => sqliteStore({ file: freshFile(), now: clock.now }), { wait: clock.pass }))(
  "$name",
  (check) => check.run(),
);

test("sqliteStore() keeps everything when it is opened again", async () => {
  const file = freshFile();
  const first = await sqliteStore({ file });
  const version = await first.kv.set("key", { a: 1 });
  await first.log.append("stream", ["a", "b"]);
  const digest = await first.blobs.put(Buffer.from("bytes"));
  await first.queue("jobs").add("job", { priority: 5 });
  await first.close();

  const second = await sqliteStore({ file });

  expect(await second.kv.get("key")).toEqual({ value: { a: 1 }, version });
  expect(await second.log.append("stream", ["c"], { expectedPosition: 2 })).toBe(3);
  expect(Buffer.from((await second.blobs.get(digest)) ?? []).toString()).toBe("bytes");
  expect(await second.queue("jobs").claim({ leaseMs: 1000 })).toEqual([{ id: "job", attempt: 1 }]);
  await second.close();
});

test("kv.set() never gives a version again, also after deleting and opening again", async () => {
  const file = freshFile();
  const versions: number[] = [];
  for (let round = 0; round < 3; round++) {
    const store = await sqliteStore({ file });
    versions.push(await store.kv.set("key", round), await store.kv.set("short", round, { expiresInMs: 1 }));
    await store.kv.delete("key");
    await store.close();
  }

  expect(versions).toEqual(versions.toSorted((left, right) => left - right));
  expect(new Set(versions).size).toBe(6);
});

test("kv does not bring back what was seen to be gone when the clock goes back", async () => {
  const own = createClock();
  const store = await sqliteStore({ file: freshFile(), now: own.now });
  for (const key of ["got", "listed", "set", "unseen"]) await store.kv.set(key, 1, { expiresInMs: 1000 });
  own.pass(1000);
  const seen = [
    await store.kv.get("got"),
    await store.kv.list({ prefix: "listed" }),
    await store.kv.set("set", 2, { ifVersion: 3 }).catch(() => "refused"),
  ];
  own.pass(-1000);

  expect(seen).toEqual([undefined, [], "refused"]);
  expect(await store.kv.list()).toEqual([]);
  await store.close();
});

test("kv.set() lets a value expire by the clock as it is after it went back", async () => {
  const own = createClock();
  const store = await sqliteStore({ file: freshFile(), now: own.now });
  own.pass(-500_000);
  await store.kv.set("key", 1, { expiresInMs: 1000 });
  own.pass(1000);

  expect(await store.kv.get("key")).toBeUndefined();
  await store.close();
});

test("kv keeps no rows of values that have expired, though nobody asks for them", async () => {
  const file = freshFile();
  const own = createClock();
  const store = await sqliteStore({ file, now: own.now });
  for (let index = 0; index < 200; index++) {
    await store.kv.increment(`window-${index}`, 1, { expiresInMs: 10 });
    own.pass(10);
  }

  expect(count(file, "kv")).toBeLessThan(5);
  await store.close();
});

test("kv.get() sees a write that was called before it and is not yet done", async () => {
  const store = await sqliteStore({ file: freshFile() });
  void store.kv.set("key", 1);
  void store.log.append("stream", ["a"]);

  expect(await Promise.all([store.kv.get("key"), store.log.position("stream"), store.kv.list()])).toMatchObject([
    { value: 1 },
    1,
    [["key", { value: 1 }]],
  ]);
  await store.close();
});

test("writes that are called in one turn share a transaction, and one that is refused does no harm", async () => {
  const file = freshFile();
  const store = await sqliteStore({ file });
  const other = new DatabaseSync(file);
  await store.kv.set("key", 1);
  const before = dataVersion(other);
  let commits = 0;

  const writes = Array.from({ length: 100 }, (_, index) =>
    index === 50 ? store.kv.set("key", 2, { ifVersion: 999 }) : store.log.append(`stream-${index % 7}`, [index]),
  );
  for (const write of writes) void write.catch(() => undefined).then(() => (commits = dataVersion(other)));
  const results = await Promise.allSettled(writes);

  expect(results.filter(({ status }) => status === "rejected")).toMatchObject([{ reason: { code: "store-conflict" } }]);
  expect(commits).toBe(before + 1);
  other.close();
  await store.close();
});

test("log.tail() sees what another connection appends", async () => {
  const file = freshFile();
  const reader = await sqliteStore({ file });
  const writer = await sqliteStore({ file });
  const tail = reader.log.tail("stream")[Symbol.asyncIterator]();
  const first = tail.next();
  await writer.log.append("stream", ["a", "b"]);

  expect((await first).value).toMatchObject({ position: 1, value: "a" });
  expect((await tail.next()).value).toMatchObject({ position: 2, value: "b" });
  const third = tail.next();
  await writer.log.append("stream", ["c"]);
  expect((await third).value).toMatchObject({ position: 3, value: "c" });
  await reader.close();
  await writer.close();
});

test("blobs keeps blobs of every size around a chunk, and any part of them", async () => {
  const store = await sqliteStore({ file: freshFile() });
  for (const size of [0, 1, 65_535, 65_536, 65_537, 131_072, 524_288, 524_289, 600_000]) {
    const bytes = Buffer.alloc(size).map((_, index) => (index * 7) % 251);
    const digest = await store.blobs.put(bytes);

    expect(Buffer.from((await store.blobs.get(digest)) ?? []).equals(bytes)).toBe(true);
    for (const [offset, length] of [
      [0, 10],
      [65_530, 12],
      [65_536, 65_536],
      [size - 5, 100],
      [1, 300_000],
    ] as const) {
      const part = await store.blobs.slice(digest, Math.max(offset, 0), length);
      const expected = bytes.subarray(Math.max(offset, 0), Math.max(offset, 0) + length);
      expect(Buffer.from(part ?? []).equals(expected), `${size} bytes, ${length} from ${offset}`).toBe(true);
    }
  }
  await store.close();
});

test("blobs.put() keeps a large blob once, and nothing of one that fails on the way", async () => {
  const file = freshFile();
  const store = await sqliteStore({ file });
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(2_000_000, "y");
    throw new Error("cut off");
  }

  await store.blobs.put(Buffer.alloc(2_000_000, "x"));
  const once = count(file, "chunks");
  await store.blobs.put(Buffer.alloc(2_000_000, "x"));
  await expect(store.blobs.put(failing())).rejects.toThrow("cut off");

  expect(once).toBe(Math.ceil(2_000_000 / 65_536));
  expect([count(file, "chunks"), count(file, "blobs")]).toEqual([once, 1]);
  await store.close();
});

test("blobs.collect() gives the space of a large blob free", async () => {
  const file = freshFile();
  const store = await sqliteStore({ file });
  await store.blobs.put(Buffer.alloc(20_000_000, "x"));
  await store.blobs.put(Buffer.alloc(20_000_000, "x"));

  expect(await store.blobs.collect(new Set())).toBe(1);
  expect(count(file, "chunks") + count(file, "blobs")).toBe(0);
  await store.close();
});

test("sqliteStore() removes what a process that was killed has left of a blob", async () => {
  const file = freshFile();
  const own = createClock();
  await (await sqliteStore({ file, now: own.now })).close();
  const killed = new DatabaseSync(file);
  killed.exec(`INSERT INTO blobs (id, size, put_at) VALUES (7, 65536, ${own.now()})`);
  killed.exec(`INSERT INTO chunks VALUES (${7 * 2 ** 24}, zeroblob(65536))`);
  killed.close();
  const early = await sqliteStore({ file, now: own.now });
  await early.blobs.collect(new Set());
  await early.close();
  const stillThere = count(file, "chunks");
  own.pass(3_700_000);

  const late = await sqliteStore({ file, now: own.now });
  await late.kv.set("key", 1);
  await late.close();

  expect(stillThere).toBe(1);
  expect(count(file, "chunks") + count(file, "blobs")).toBe(0);
});

test.for([5, null, "now"])("sqliteStore() refuses the clock %j", async (now) => {
  await expect(sqliteStore({ file: freshFile(), now: now as unknown as () => number })).rejects.toMatchObject({
    code: "option-invalid",
    details: { option: "now" },
  });
});

function freshFile(): string {
  files += 1;
  return join(folder, String(files), "kitbag.db");
}

function count(file: string, table: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.["count"]);
  } finally {
    database.close();
  }
}

/** Grows by one with each commit of another connection that it is asked after. */
function dataVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA data_version").get()?.["data_version"]);
}

/** A clock that stands still until somebody lets time pass. */
function createClock() {
  let time = 10_000_000;
  return {
    now: () => time,
    pass(ms: number): void {
      time += ms;
    },
  };
}
