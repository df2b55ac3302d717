import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, expect, test } from "vitest";

import { checkSqlite } from "./check-sqlite.ts";
import { repairSqlite, type SqliteRepair } from "./repair-sqlite.ts";
import { sqliteStore } from "./sqlite-store.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test.for([
  ["the last page", ["entries"]],
  ["the last page, also of the index", ["entries", "entries_position"]],
] as const)("repairSqlite() saves entries whatever their number when it cannot read %s", async ([, damaged]) => {
  const file = await createFile({ stream: 600 });
  // As if there had been so many before.
  renumber(file, "number + 5000000");
  const readable = damageEnds(file, damaged);

  const { saved } = await repair(file);

  expect(readable).toBeGreaterThan(500);
  expect(saved.entries).toBe(readable);
});

test("repairSqlite() saves what is behind damaged pages, also where numbers are missing and the index is damaged", async () => {
  const file = await createFile({ stream: 600 });
  renumber(file, "number * 1000");
  const [, second, third, , fifth] = leavesOf(file, "entries");
  overwrite(file, [second, third, fifth, ...leavesOf(file, "entries_position")]);

  const { saved, lost } = await repair(file);

  const database = new DatabaseSync(file);
  const last = database.prepare("SELECT max(position) AS last FROM entries").get()?.["last"];
  database.close();
  expect(last).toBe(600);
  expect(saved.entries).toBeGreaterThan(400);
  expect(lost).toEqual([`${600 - saved.entries} of the 600 entries of "stream"`, 'parts of the table "entries"']);
});

test("repairSqlite() names what is missing at the end of a stream, and streams that are lost whole", async () => {
  const file = await createFile({ first: 300, second: 300, third: 300 });
  const [page, ...others] = leavesOf(file, "entries").toReversed();
  // The first stream and a part of the second are on the first pages.
  overwrite(file, [page, ...others.slice(0, Math.ceil(others.length / 2))]);

  const { saved, lost } = await repair(file);

  expect(saved.entries).toBeGreaterThan(300);
  expect(lost).toEqual([`${600 - saved.entries} of the 300 entries of "second"`, 'all 300 entries of "third"']);
});

test("repairSqlite() names streams that are lost whole when nothing tells how long they were", async () => {
  const file = await createFile({ first: 300, second: 300 });
  overwrite(file, [...leavesOf(file, "entries"), ...leavesOf(file, "entries_position")]);

  const { saved, lost } = await repair(file);

  expect(saved.entries).toBe(0);
  expect(lost).toEqual(['all entries of "first"', 'all entries of "second"', 'everything in the table "entries"']);
});

test("repairSqlite() says how many rows of a table are lost, and when nothing of it was saved", async () => {
  const file = await createFile({ stream: 1 });
  const some = leavesOf(file, "kv");
  overwrite(file, [some[1]]);
  const inPart = await repair(file);
  overwrite(file, leavesOf(file, "kv"));

  const whole = await repair(file);

  expect(inPart.lost).toEqual([`${200 - inPart.saved.values} of the 200 rows of the table "kv"`]);
  expect(whole.lost).toEqual([`all ${inPart.saved.values} rows of the table "kv"`]);
});

/** A store with 200 values, and streams of so many entries, one after the other. */
async function createFile(streams: Readonly<Record<string, number>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-salvage-"));
  folders.push(folder);
  const file = join(folder, "kitbag.db");
  const store = await sqliteStore({ file });
  for (let index = 0; index < 200; index++) void store.kv.set(`key-${index}`, "x".repeat(100));
  for (const [name, count] of Object.entries(streams)) {
    await store.log.append(
      name,
      Array.from({ length: count }, (_, index) => ({ index, text: "x".repeat(50) })),
    );
  }
  await store.close();
  return file;
}

function renumber(file: string, number: string): void {
  const database = new DatabaseSync(file);
  // In two steps: on the way no two may have the same.
  database.exec(`UPDATE entries SET number = -(${number}); UPDATE entries SET number = -number; VACUUM`);
  database.close();
}

/** Damages the last pages of tables and indexes, and answers how many entries SQLite still reads. */
function damageEnds(file: string, names: readonly string[]): number {
  overwrite(
    file,
    names.map((name) => leavesOf(file, name).at(-1)),
  );
  const database = new DatabaseSync(file, { readOnly: true });
  let count = 0;
  try {
    for (const _ of database.prepare("SELECT * FROM entries NOT INDEXED").iterate()) count += 1;
  } catch {
    // Here it ends.
  }
  database.close();
  return count;
}

/** The pages that the rows are on, in order. */
function leavesOf(file: string, name: string): readonly number[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path")
    .all(name);
  database.close();
  return rows.map(({ pageno }) => Number(pageno));
}

function overwrite(file: string, pages: readonly (number | undefined)[]): void {
  const bytes = readFileSync(file);
  for (const page of pages) bytes.fill(0xff, (Number(page) - 1) * 4096, Number(page) * 4096);
  writeFileSync(file, bytes);
}

/** What comes of a repair; the file is whole after it. */
async function repair(file: string): Promise<SqliteRepair> {
  const result = await repairSqlite(file);
  expect((await checkSqlite(file)).problems).toEqual([]);
  return result;
}
