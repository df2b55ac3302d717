import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, expect, test } from "vitest";

import { startCrashProgram } from "../../../test/crash/start-crash-program.ts";
import { openDatabase } from "./open-database.ts";
import { schema, type Schema } from "./schema.ts";
import { sqliteStore } from "./sqlite-store.ts";

const folders: string[] = [];

/** What a later version of Kitbag might do. */
const later: Schema = {
  version: 3,
  create: `${schema.create} CREATE TABLE notes (text TEXT, mood TEXT);`,
  migrations: [
    (database) => database.exec("CREATE TABLE notes (text TEXT); INSERT INTO notes SELECT key FROM kv"),
    (database) => database.exec("ALTER TABLE notes ADD COLUMN mood TEXT"),
  ],
};

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

test("migrate() takes an older file through all steps, and keeps a copy of it", async () => {
  const file = await oldFile();

  const database = await openDatabase(file, later);
  const notes = database.sql("SELECT text, mood FROM notes").all();
  database.close();

  expect(notes).toEqual([expect.objectContaining({ text: "key", mood: null })]);
  expect(read(file, "PRAGMA user_version")).toEqual([{ user_version: 3 }]);
  expect(read(`${file}.before-v3`, "PRAGMA user_version")).toEqual([{ user_version: 1 }]);
  expect(read(`${file}.before-v3`, "SELECT key FROM kv")).toEqual([{ key: "key" }]);
});

test("migrate() takes a file of the version between through the last step only", async () => {
  const file = await oldFile();
  const between = { version: 2, create: `${schema.create} CREATE TABLE notes (text TEXT);` };
  (await openDatabase(file, { ...between, migrations: later.migrations.slice(0, 1) })).close();

  (await openDatabase(file, later)).close();

  expect(read(file, "SELECT text, mood FROM notes")).toEqual([{ text: "key", mood: null }]);
  expect(read(`${file}.before-v3`, "PRAGMA user_version")).toEqual([{ user_version: 2 }]);
});

test("migrate() leaves the file as it was when a step fails", async () => {
  const file = await oldFile();
  const broken: Schema = {
    ...later,
    migrations: [
      ...later.migrations.slice(0, 1),
      () => {
        throw new Error("the step failed");
      },
    ],
  };

  await expect(openDatabase(file, broken)).rejects.toThrow("the step failed");

  expect(read(file, "PRAGMA user_version")).toEqual([{ user_version: 1 }]);
  expect(read(file, "SELECT name FROM sqlite_schema WHERE name = 'notes'")).toEqual([]);
  const store = await sqliteStore({ file });
  expect((await store.kv.get("key"))?.value).toBe(1);
  await store.close();
});

test("migrate() is done once when two open an older file at the same time", async () => {
  const file = await oldFile();

  const both = await Promise.all([openDatabase(file, later), openDatabase(file, later)]);
  for (const database of both) database.close();

  expect(read(file, "SELECT text, mood FROM notes")).toEqual([{ text: "key", mood: null }]);
});

test("migrate() refuses a file of a newer version, and leaves it", async () => {
  const file = await oldFile();
  (await openDatabase(file, later)).close();

  const opened = sqliteStore({ file });

  await expect(opened).rejects.toMatchObject({ code: "store-newer", details: { store: file, version: 3, newest: 1 } });
  expect(read(file, "PRAGMA user_version")).toEqual([{ user_version: 3 }]);
});

test("sqliteStore() writes nothing more into a file that another process has brought to a newer version", async () => {
  const file = await oldFile();
  const store = await sqliteStore({ file });
  (await openDatabase(file, later)).close();

  await expect(store.kv.set("key", 2)).rejects.toMatchObject({ code: "store-newer" });
  expect((await store.kv.get("key"))?.value).toBe(1);
  await store.close();
});

test("a process that has a store open while another one migrates it is refused, and loses nothing", async () => {
  const file = await oldFile();
  const writer = startCrashProgram("write-until-refused.ts", [file]);
  await writer.waitFor("open");

  const database = await openDatabase(file, later);
  const [row] = database.sql("SELECT value FROM kv WHERE key = 'count'").all() as { readonly value: string }[];
  database.close();

  const kept = String(JSON.parse(String(row?.value)));
  expect(await writer.waitFor("refused")).toBe(`refused store-newer after ${kept}, reads ${kept}`);
});

test("migrate() keeps no copy of a file that is new", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-migrate-"));
  folders.push(folder);
  const file = join(folder, "kitbag.db");

  (await openDatabase(file, later)).close();

  expect(read(file, "PRAGMA user_version")).toEqual([{ user_version: 3 }]);
  expect(existsSync(`${file}.before-v3`)).toBe(false);
});

/** A file as this version makes it, with one value. */
async function oldFile(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-migrate-"));
  folders.push(folder);
  const file = join(folder, "kitbag.db");
  const store = await sqliteStore({ file });
  await store.kv.set("key", 1);
  await store.close();
  return file;
}

function read(file: string, sql: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  } finally {
    database.close();
  }
}
