import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, expect, test } from "vitest";

import { backupSqlite } from "./backup-sqlite.ts";
import { checkSqlite } from "./check-sqlite.ts";
import { repairSqlite } from "./repair-sqlite.ts";
import { sqliteStore } from "./sqlite-store.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test("checkSqlite() finds nothing wrong with a good file, also while somebody has it open", async () => {
  const file = await filledFile();
  const store = await sqliteStore({ file });
  await store.kv.set("new", 1);

  expect(await checkSqlite(file)).toEqual({ file, problems: [] });
  await store.close();
});

test.for([
  ["DELETE FROM entries WHERE position = 50", "stream", "entries are missing: the positions have gaps"],
  ["DELETE FROM streams", "stream 1", "the name of the stream is missing"],
  ["DELETE FROM entries", "stream", "the stream has no entries"],
  ["UPDATE entries SET value = '{' WHERE position = 3", "stream[3]", "the value is not JSON"],
  ["UPDATE kv SET value = '{' WHERE key = 'key-1'", "key-1", "the value is not JSON"],
  [
    "UPDATE kv SET version = 5000 WHERE key = 'key-1'",
    "key-1",
    "the version is one that was never given, or was given twice",
  ],
  [
    "UPDATE kv SET version = 2 WHERE key <> 'key-1'",
    "key-2",
    "the version is one that was never given, or was given twice",
  ],
  ["DELETE FROM queues", "job", "the job belongs to no queue, or to no order"],
  ["DELETE FROM blobs WHERE id = 1", "blob 1", "it has no name"],
  [
    "UPDATE chunks SET bytes = zeroblob(length(bytes))",
    /^sha256:/,
    "the bytes are not those that the digest stands for",
  ],
  ["DELETE FROM chunks", /^sha256:/, "the bytes are not those that the digest stands for"],
] as const)("checkSqlite() points at what %s does", async ([sql, where, problem]) => {
  const file = await filledFile();
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();

  const { problems } = await checkSqlite(file);

  expect(problems).toContainEqual({ where: typeof where === "string" ? where : expect.stringMatching(where), problem });
});

test("checkSqlite() tells what SQLite finds wrong with the pages, and goes on", async () => {
  const file = await filledFile();
  damagePages(file, "entries");

  const { problems } = await checkSqlite(file);

  expect(problems.length).toBeGreaterThan(1);
  expect(problems[0]?.where).toBe("file");
});

test("checkSqlite() says of a file that is no database what it is, and of one that is not there that there is none", async () => {
  const file = join(freshFolder(), "kitbag.db");
  writeFileSync(file, "no database");

  expect((await checkSqlite(file)).problems).toEqual([{ where: file, problem: "file is not a database" }]);
  await expect(checkSqlite(`${file}-missing`)).rejects.toMatchObject({
    code: "store-unavailable",
    details: { reason: "there is no such file" },
  });
});

test("repairSqlite() saves every row that can be read, and says what was lost", async () => {
  const file = await filledFile();
  const lostBlob = damageBlob(file);
  damagePages(file, "entries");

  const repair = await repairSqlite(file);

  expect(repair.damaged).toBe(`${file}.damaged`);
  expect(existsSync(repair.damaged)).toBe(true);
  expect(repair.saved).toMatchObject({ values: 20, blobs: 1, jobs: 1 });
  expect(repair.saved.entries).toBeGreaterThan(80);
  expect(repair.lost).toContainEqual(expect.stringMatching(/^\d+ of the 100 entries of "stream"$/));
  expect(repair.lost).toContain(`the blob ${lostBlob}`);
  expect(await checkSqlite(file)).toEqual({ file, problems: [] });
  const store = await sqliteStore({ file });
  const entries = await store.log.read("stream");
  const lost = entries.filter(({ value }) => JSON.stringify(value) === '{"lost":true}');
  expect(entries.map(({ position }) => position)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(lost).toHaveLength(100 - repair.saved.entries);
  for (const { position, value } of entries)
    if (!lost.some((entry) => entry.position === position)) expect(value).toMatchObject({ index: position });
  expect(await store.kv.set("key-1", "new")).toBeGreaterThan(21);
  await store.close();
});

test("repairSqlite() also saves what was only in the log of the file", async () => {
  const file = await filledFile();
  const store = await sqliteStore({ file });
  await store.kv.set("late", "in the log");
  const copy = join(freshFolder(), "kitbag.db");
  for (const end of ["", "-wal"]) writeFileSync(copy + end, readFileSync(file + end));
  await store.close();

  const { lost, saved } = await repairSqlite(copy);

  expect(lost).toEqual([]);
  expect(saved.values).toBe(21);
  const repaired = await sqliteStore({ file: copy });
  expect((await repaired.kv.get("late"))?.value).toBe("in the log");
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  await repaired.close();
});

test("repairSqlite() refuses a file that somebody has open, and leaves it", { timeout: 20_000 }, async () => {
  const file = await filledFile();
  const store = await sqliteStore({ file });
  await store.kv.get("key-1");

  await expect(repairSqlite(file)).rejects.toMatchObject({
    code: "store-unavailable",
    details: { reason: "another program has it open" },
  });
  await store.kv.set("key-1", "still works");
  await store.close();
  expect(readdirSync(join(file, ".."))).toEqual(["kitbag.db"]);
});

test("repairSqlite() leaves a file of which nothing can be read", async () => {
  const file = join(freshFolder(), "kitbag.db");
  writeFileSync(file, "no database");

  await expect(repairSqlite(file)).rejects.toMatchObject({ code: "store-unavailable" });
  expect(readFileSync(file, "utf8")).toBe("no database");
  expect(readdirSync(join(file, ".."))).toEqual(["kitbag.db"]);
});

test("backupSqlite() copies one moment of a store while others write", async () => {
  const file = await filledFile();
  const to = join(freshFolder(), "a", "copy.db");
  const store = await sqliteStore({ file });
  const done = new AbortController();
  const writing = (async () => {
    for (let index = 0; !done.signal.aborted; index++) {
      await Promise.all([store.log.append("left", [index]), store.log.append("right", [index])]);
    }
  })();

  const bytes = await backupSqlite(file, to, freshFolder());
  done.abort();
  await writing;

  const copy = await sqliteStore({ file: to });
  expect(bytes).toBe(statSync(to).size);
  expect(await copy.log.position("left")).toBe(await copy.log.position("right"));
  expect(await copy.log.position("stream")).toBe(100);
  expect(statSync(to).mode & 0o777).toBe(0o600);
  await copy.close();
  await store.close();
  expect(await checkSqlite(to)).toEqual({ file: to, problems: [] });
});

test("backupSqlite() overwrites nothing, and leaves nothing half done", async () => {
  const file = await filledFile();
  const folder = freshFolder();
  writeFileSync(join(folder, "there.db"), "something");
  writeFileSync(join(folder, "broken.db"), "no database");

  await expect(backupSqlite(file, join(folder, "there.db"), freshFolder())).rejects.toMatchObject({
    code: "option-invalid",
  });
  await expect(backupSqlite(join(folder, "broken.db"), join(folder, "to.db"), freshFolder())).rejects.toMatchObject({
    code: "store-unavailable",
  });
  await expect(backupSqlite(file, join(folder, "there.db", "to.db"), freshFolder())).rejects.toMatchObject({
    code: "store-unavailable",
  });
  expect(readdirSync(folder).toSorted()).toEqual(["broken.db", "there.db"]);
});

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-maintenance-"));
  folders.push(folder);
  return folder;
}

/** A store with 20 values, 100 entries, two blobs and a job. */
async function filledFile(): Promise<string> {
  const file = join(freshFolder(), "kitbag.db");
  const store = await sqliteStore({ file });
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index + 1}`);
  await Promise.all(keys.map((key) => store.kv.set(key, { key })));
  const values = Array.from({ length: 100 }, (_, index) => ({ index: index + 1, text: "x".repeat(1000) }));
  await Promise.all(values.map((value) => store.log.append("stream", [value])));
  await store.blobs.put(Buffer.alloc(100_000, "a"));
  await store.blobs.put(Buffer.alloc(200_000, "b"));
  await store.queue("jobs").add("job");
  await store.close();
  return file;
}

/** Overwrites some pages of a table in the middle of the file. */
function damagePages(file: string, table: string): void {
  const database = new DatabaseSync(file);
  const pages = database.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'").all(table);
  database.close();
  const bytes = readFileSync(file);
  for (const { pageno } of pages.slice(3, 5)) bytes.fill(0xa5, (Number(pageno) - 1) * 4096, Number(pageno) * 4096);
  writeFileSync(file, bytes);
}

/** Changes one byte of the second blob, and answers with its digest. */
function damageBlob(file: string): string {
  const bytes = readFileSync(file);
  const place = bytes.indexOf("b".repeat(1000));
  bytes[place] = 0;
  writeFileSync(file, bytes);
  const database = new DatabaseSync(file, { readOnly: true });
  const digest = String(database.prepare("SELECT digest FROM blobs WHERE size = 200000").get()?.["digest"]);
  database.close();
  return digest;
}
