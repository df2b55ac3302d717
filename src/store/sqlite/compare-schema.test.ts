import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, onTestFinished, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { isKitbagError } from "../../core/errors.ts";
import { checkSqlite } from "./check-sqlite.ts";
import { repairSqlite } from "./repair-sqlite.ts";
import { sqliteStore } from "./sqlite-store.ts";

test.for([
  [
    "CREATE TRIGGER paid AFTER INSERT ON entries BEGIN DELETE FROM kv; END",
    'it has the trigger "paid" of another program',
  ],
  ["CREATE VIEW looks AS SELECT * FROM kv", 'it has the view "looks" of another program'],
  ["CREATE TABLE notes (text TEXT)", 'it has the table "notes" of another program'],
  ["ALTER TABLE kv ADD COLUMN more TEXT", 'the table "kv" is another one'],
  ["DROP INDEX kv_expires", 'the index "kv_expires" is missing'],
  ["DROP TABLE jobs", 'the table "jobs" is missing'],
] as const)("sqliteStore() refuses a file whose tables are not ours, and leaves it: %s", async ([sql, reason]) => {
  const file = await changedFile(sql);
  const before = readFileSync(file);

  const found = await codeAndReason(sqliteStore({ file }));

  const cure = `delete the file if it is not yours; else save what is in it: kitbag store repair --store sqlite:${file}`;
  expect(found).toEqual(["store-unavailable", reason, cure]);
  expect(readFileSync(file).equals(before)).toBe(true);
});

test("sqliteStore() refuses a file that a newer version has brought up to date by half", async () => {
  const file = await changedFile("CREATE TABLE half (done TEXT)", "PRAGMA user_version = 0");

  const [code, reason] = await codeAndReason(sqliteStore({ file }));
  changeFile(file, "DROP TABLE half");

  expect([code, reason]).toEqual(["store-unavailable", 'it has the table "half" of another program']);
  expect(await readKey(file)).toBe("kept");
});

test("sqliteStore() takes a file whose statistics were refreshed by hand", async () => {
  const file = await changedFile("ANALYZE");

  expect(await readKey(file)).toBe("kept");
});

test("repairSqlite() saves what is in a file with a trigger, and leaves the trigger behind", async () => {
  const file = await changedFile("CREATE TRIGGER paid AFTER INSERT ON entries BEGIN DELETE FROM kv; END");

  const { problems } = await checkSqlite(file);
  await repairSqlite(file);

  expect(problems).toEqual([{ where: "tables", problem: 'it has the trigger "paid" of another program' }]);
  expect(await readKey(file)).toBe("kept");
});

/** A file as this version makes it, with one value, after another program has run `statements` in it. */
async function changedFile(...statements: readonly string[]): Promise<string> {
  const file = join(createFolder(), "kitbag.db");
  const store = await sqliteStore({ file });
  await store.kv.set("key", "kept");
  await store.close();
  changeFile(file, ...statements);
  return file;
}

function changeFile(file: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(file);
  for (const statement of statements) database.exec(statement);
  database.close();
}

async function readKey(file: string): Promise<unknown> {
  const store = await sqliteStore({ file });
  onTestFinished(() => store.close());
  return (await store.kv.get("key"))?.value;
}

async function codeAndReason(promise: Promise<unknown>): Promise<readonly string[]> {
  const error = await promise.catch((cause: unknown) => cause);
  if (!isKitbagError(error, "store-unavailable")) return [`no such error: ${String(error)}`];
  return [error.code, error.details.reason, error.details.cure];
}
