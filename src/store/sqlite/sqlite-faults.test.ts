import { execFileSync } from "node:child_process";
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, expect, test, type TestContext } from "vitest";

import { isKitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { sqliteStore } from "./sqlite-store.ts";

const cleanups: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

test("sqliteStore() makes folder and file for their owner alone", async () => {
  const folder = join(freshFolder(), "a", "b");

  const store = await open(join(folder, "kitbag.db"));
  await store.kv.set("key", 1);

  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const end of ["", "-wal", "-shm"]) expect(statSync(join(folder, `kitbag.db${end}`)).mode & 0o777).toBe(0o600);
});

test.for([undefined, null, 5, "", "a\0b"])("sqliteStore() refuses the file %j", async (file) => {
  await expect(sqliteStore({ file: file as string })).rejects.toMatchObject({
    code: "option-invalid",
    details: { option: "file" },
  });
});

test("sqliteStore() says that a part of the path is not a folder, or that it is one", async () => {
  const folder = freshFolder();
  writeFileSync(join(folder, "file"), "");

  expect(await messageOf(sqliteStore({ file: join(folder, "file", "kitbag.db") }))).toMatch(
    /is not a folder; give another path$/,
  );
  expect(await messageOf(sqliteStore({ file: folder }))).toMatch(/: it is a folder; give the path of a file$/);
});

test.for(["text that is no database", `SQLite format 3\0${" ".repeat(5000)}`])(
  "sqliteStore() refuses what is no database, and leaves it (%#)",
  async (content) => {
    const file = join(freshFolder(), "kitbag.db");
    writeFileSync(file, content);

    const message = await messageOf(sqliteStore({ file }));

    const cure = `see what can be saved of it: kitbag store check --store sqlite:${file}`;
    expect(message).toContain(`the file is damaged, or is no database; ${cure}`);
    expect(readFileSync(file, "utf8")).toBe(content);
  },
);

test("sqliteStore() refuses a database of another program, and leaves it", async () => {
  const file = join(freshFolder(), "other.db");
  const other = new DatabaseSync(file);
  other.exec("CREATE TABLE mine (x); PRAGMA user_version = 1");
  other.close();

  expect(await messageOf(sqliteStore({ file }))).toMatch(
    /it is a database of another program; give the path of another file$/,
  );
});

test("sqliteStore() gives a clear error on a full disk, keeps the rest readable, and goes on when there is space", async (context) => {
  const disk = smallDisk(context, "2m");
  const store = await open(join(disk, "kitbag.db"));
  await store.kv.set("small", "kept");
  const filler = join(disk, "filler");
  fillDisk(filler);

  const large = await codeAndReason(store.kv.set("large", "x".repeat(1_000_000)));
  const batch = await Promise.allSettled([
    store.log.append("stream", ["x".repeat(500_000), "y".repeat(500_000)]),
    store.log.append("stream", ["x".repeat(900_000)]),
  ]);
  const kept = await store.kv.get("small");
  rmSync(filler);
  const position = await store.log.append("stream", ["after"]);

  expect(large).toEqual(["store-unavailable", "the disk is full", "free some space and try again"]);
  expect(batch.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(kept?.value).toBe("kept");
  expect(position).toBe(1);
  expect(await store.log.streams()).toEqual(["stream"]);
  expect(await store.kv.get("large")).toBeUndefined();
});

test("sqliteStore() lets a small write through that comes with one that is too large for the disk", async (context) => {
  const store = await open(join(smallDisk(context, "2m"), "kitbag.db"));

  const results = await Promise.allSettled([
    store.kv.set("before", 1),
    store.kv.set("large", "x".repeat(3_000_000)),
    store.kv.set("after", 2),
  ]);

  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect((await store.kv.list()).map(([key]) => key)).toEqual(["after", "before"]);
});

test("blobs.put() on a full disk leaves nothing to be found, and nothing at all when there is space again", async (context) => {
  const disk = smallDisk(context, "8m");
  const store = await open(join(disk, "kitbag.db"));
  const filler = join(disk, "filler");
  writeFileSync(filler, Buffer.alloc(4_000_000));
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let piece = 0; piece < 100; piece++) yield new Uint8Array(100_000).fill(piece);
  }

  const put = await codeAndReason(store.blobs.put(pieces()));
  const listed = await store.blobs.list();
  rmSync(filler);
  await store.blobs.collect(new Set());

  expect(put[1]).toBe("the disk is full");
  expect(listed).toEqual([]);
  expect(
    count(join(disk, "kitbag.db"), "SELECT (SELECT count(*) FROM blobs) + (SELECT count(*) FROM chunks) AS count"),
  ).toBe(0);
});

test("sqliteStore() reads a file on a disk that may not be written, and writes as soon as it may", async (context) => {
  const disk = smallDisk(context, "8m");
  const file = join(disk, "kitbag.db");
  const first = await open(file);
  await first.kv.set("key", "kept");
  await first.kv.set("short", "kept", { expiresInMs: 1 });
  await first.close();
  remount(disk, "ro");

  const store = await open(file);
  const value = await store.kv.get("key");
  const expired = await store.kv.get("short");
  const refused = await codeAndReason(store.kv.set("key", "new"));
  remount(disk, "rw");
  await store.kv.set("key", "new");

  expect(value?.value).toBe("kept");
  expect(expired).toBeUndefined();
  expect(refused).toEqual([
    "store-unavailable",
    "the file or its folder may not be written",
    "change the permissions, or keep the store elsewhere",
  ]);
  expect((await store.kv.get("key"))?.value).toBe("new");
});

test("sqliteStore() refuses to make a file on a disk that may not be written", async (context) => {
  const disk = smallDisk(context, "2m");
  remount(disk, "ro");

  expect(await messageOf(sqliteStore({ file: join(disk, "kitbag.db") }))).toMatch(
    /the file or its folder may not be written/,
  );
});

test(
  "sqliteStore() waits for a lock without holding up the process, and gives up after 5 s",
  { timeout: 20_000 },
  async () => {
    const file = join(freshFolder(), "kitbag.db");
    const store = await open(file);
    await store.kv.set("key", "before");
    const other = lock(file);
    let turns = 0;
    const ticker = setInterval(() => (turns += 1), 10);

    const early = store.kv.set("key", "refused");
    const read = await store.kv.get("other");
    const refused = await codeAndReason(early);
    const late = store.kv.set("key", "after");
    other.exec("ROLLBACK");
    await late;
    clearInterval(ticker);

    expect(read).toBeUndefined();
    expect(refused).toEqual([
      "store-unavailable",
      "another process has locked it for longer than 5 s",
      "end that process, or try again later",
    ]);
    expect(turns).toBeGreaterThan(100);
    expect((await store.kv.get("key"))?.value).toBe("after");
  },
);

test("sqliteStore() writes nothing into a file that was deleted while it was open", async () => {
  const file = join(freshFolder(), "kitbag.db");
  const store = await open(file);
  await store.kv.set("key", 1);
  renameSync(file, `${file}.away`);
  await passTime(60);

  const refused = await codeAndReason(store.kv.set("key", 2));
  renameSync(`${file}.away`, file);
  await store.kv.set("key", 3);

  expect(refused).toEqual([
    "store-unavailable",
    "the file was moved, deleted or replaced while it was open",
    "put it back, or open the store anew",
  ]);
  expect((await store.kv.get("key"))?.value).toBe(3);
});

test("sqliteStore() reads what is not damaged of a damaged file", async () => {
  const file = join(freshFolder(), "kitbag.db");
  const first = await open(file);
  for (let index = 0; index < 100; index++) await first.log.append("stream", [{ index, text: "x".repeat(1000) }]);
  await first.kv.set("key", "kept");
  await first.close();
  damagePages(file, "entries");

  const store = await open(file);
  const read = await codeAndReason(store.log.read("stream"));

  expect(read[0]).toBe("store-unavailable");
  expect(read[1]).toBe("the file is damaged, or is no database");
  expect((await store.kv.get("key"))?.value).toBe("kept");
  await store.kv.set("key", "new");
  expect((await store.kv.get("key"))?.value).toBe("new");
});

test("sqliteStore() takes a value that is not JSON any more for damage, and others as they are", async () => {
  const file = join(freshFolder(), "kitbag.db");
  const store = await open(file);
  await store.kv.set("good", 1);
  await store.kv.set("bad", { a: 1 });
  const other = new DatabaseSync(file);
  other.exec("UPDATE kv SET value = '{\"a\":' WHERE key = 'bad'");
  other.close();

  expect((await codeAndReason(store.kv.get("bad")))[1]).toBe("the file is damaged, or is no database");
  expect((await codeAndReason(store.kv.increment("bad")))[1]).toBe("the file is damaged, or is no database");
  expect((await store.kv.get("good"))?.value).toBe(1);
});

test("sqliteStore() says that a file that was cut off is damaged", async () => {
  const file = join(freshFolder(), "kitbag.db");
  const first = await open(file);
  for (let index = 0; index < 50; index++) await first.log.append("stream", [{ index, text: "x".repeat(1000) }]);
  await first.close();
  const descriptor = openSync(file, "r+");
  ftruncateSync(descriptor, 5 * 4096);
  closeSync(descriptor);

  const found = await codeAndReason(open(file).then((store) => store.log.read("stream")));

  expect(found[0]).toBe("store-unavailable");
  expect(found[1]).toBe("the file is damaged, or is no database");
});

test("close() waits for what is being written", async () => {
  const file = join(freshFolder(), "kitbag.db");
  const store = await open(file);
  const writes = Array.from({ length: 50 }, (_, index) => store.log.append("stream", [index]));
  const closed = store.close();
  const late = store.log.append("stream", ["late"]);

  await expect(late).rejects.toMatchObject({ code: "store-closed" });
  await closed;
  await expect(Promise.all(writes)).resolves.toHaveLength(50);
  const again = await open(file);
  expect(await again.log.position("stream")).toBe(50);
});

test("blobs.collect() that is cut off by close() says so, and the rest goes later", async () => {
  const file = join(freshFolder(), "kitbag.db");
  const store = await open(file);
  await store.blobs.put(Buffer.alloc(30_000_000, "x"));
  const collected = store.blobs.collect(new Set());
  const outcome = collected.catch((cause: unknown) => isKitbagError(cause) && cause.code);
  await store.close();

  expect([1, "store-closed"]).toContain(await outcome);
  const again = await open(file);
  await again.blobs.collect(new Set());
  expect(count(file, "SELECT count(*) AS count FROM chunks")).toBe(0);
});

test("blobs.put() that is cut off by close() leaves nothing behind", async () => {
  const file = join(freshFolder(), "kitbag.db");
  const store = await open(file);
  const halfWay = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(2_000_000);
    halfWay.resolve();
    await gate.promise;
    yield new Uint8Array(1);
  }
  const put = store.blobs.put(pieces());
  await halfWay.promise;
  await store.close();
  gate.resolve();
  await expect(put).rejects.toMatchObject({ code: "store-closed" });

  const again = await open(file);
  await again.blobs.collect(new Set());
  await again.close();

  expect(count(file, "SELECT (SELECT count(*) FROM blobs) + (SELECT count(*) FROM chunks) AS count")).toBe(0);
});

test("sqliteStore() holds a blob of 60 MB without having it in memory", { timeout: 60_000 }, async () => {
  const store = await open(join(freshFolder(), "kitbag.db"));
  const piece = Buffer.alloc(1_000_000, "x");
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < 60; index++) yield piece;
  }
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers - before)), 5);

  const digest = await store.blobs.put(pieces());
  clearInterval(watch);

  expect(await store.blobs.size(digest)).toBe(60_000_000);
  expect(Buffer.from((await store.blobs.slice(digest, 43_456_789, 5)) ?? []).toString()).toBe("xxxxx");
  expect(most).toBeLessThan(20_000_000);
});

async function open(file: string): Promise<Store> {
  const store = await sqliteStore({ file });
  cleanups.push(() => store.close());
  return store;
}

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-sqlite-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A disk of its own, which only root can make. */
function smallDisk({ skip }: Pick<TestContext, "skip">, size: string): string {
  skip(process.getuid?.() !== 0, "only root can make a small disk");
  const folder = join(freshFolder(), "disk");
  mkdirSync(folder);
  run(`mount -t tmpfs -o size=${size} tmpfs ${folder}`);
  cleanups.push(() => run(`umount -l ${folder}`));
  return folder;
}

function remount(disk: string, how: "ro" | "rw"): void {
  run(`mount -o remount,${how} ${disk}`);
}

function run(command: string): void {
  const [program = "", ...args] = command.split(" ");
  execFileSync(program, args);
}

function fillDisk(path: string): void {
  const block = Buffer.alloc(16_384);
  try {
    for (;;) writeFileSync(path, block, { flag: "a" });
  } catch {
    // It is full.
  }
}

function lock(file: string): DatabaseSync {
  const other = new DatabaseSync(file);
  cleanups.push(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  return other;
}

/** Overwrites some pages of a table in the middle of the file. */
function damagePages(file: string, table: string): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const pages = database.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'").all(table);
  database.close();
  const bytes = readFileSync(file);
  for (const { pageno } of pages.slice(3, 5)) bytes.fill(0xa5, (Number(pageno) - 1) * 4096, Number(pageno) * 4096);
  writeFileSync(file, bytes);
}

function count(file: string, sql: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare(sql).get()?.["count"]);
  } finally {
    database.close();
  }
}

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.catch((cause: unknown) => cause);
  return isKitbagError(error) ? error.message : `no error: ${String(error)}`;
}

async function codeAndReason(promise: Promise<unknown>): Promise<readonly string[]> {
  const error = await promise.catch((cause: unknown) => cause);
  if (!isKitbagError(error, "store-unavailable")) return [`no such error: ${String(error)}`];
  return [error.code, error.details.reason, error.details.cure];
}

function passTime(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

test.for(["/proc/none/here/kitbag.db", "/dev/null/kitbag.db"])(
  "sqliteStore() refuses a file whose folder cannot be made: %s",
  async (file) => {
    await expect(sqliteStore({ file })).rejects.toMatchObject({ code: "store-unavailable", details: { store: file } });
  },
);
