import { randomInt } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";

import { expect, test } from "vitest";

import type { Store } from "../../src/core/store.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { startCrashProgram } from "./start-crash-program.ts";

interface StoredRecord {
  readonly writer: string;
  readonly number: number;
  readonly batch: number;
  readonly size: number;
}

test("a writer that is killed a hundred times loses nothing that it acknowledged", { timeout: 600_000 }, async () => {
  // Written once in peace, so that the next starts are quick.
  await startCrashProgram("write-records.ts", [join(createFolder(), "kitbag.db"), "0", "1"]).gone;
  const folder = createFolder();

  const lanes = await Promise.all([0, 1].map((lane) => killInLane(join(folder, `${lane}.db`), 50)));

  const acknowledged = lanes.flat().reduce((sum, count) => sum + count, 0);
  console.log(`100 kills, ${acknowledged} acknowledged records, lost none`);
  expect(lanes.flat()).toHaveLength(100);
  expect(lanes.flat().filter((count) => count > 0).length, "kills in the middle of writing").toBeGreaterThan(50);
});

/** Kills writers one after the other, and answers how many records each had acknowledged. */
async function killInLane(file: string, kills: number): Promise<number[]> {
  const counts: number[] = [];
  let position = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const writer = startCrashProgram("write-records.ts", [file, String(kill)]);
    // One in five anywhere, also while the file is being opened; the others while it is written to.
    if (kill % 5 === 0) await setTimeout(randomInt(20, 300));
    else await writer.waitFor("log").then(() => setTimeout(randomInt(0, 60)));
    writer.signal("SIGKILL");
    await writer.gone;
    const lines = writer.lines();
    const store = await sqliteStore({ file });
    position = await checkRecords(store, String(kill), position, lastOf(lines, "log"));
    await checkValues(store, String(kill), lines);
    await store.close();
    checkIntegrity(file);
    counts.push(lastOf(lines, "log"));
  }
  return counts;
}

/** What one writer wrote is there from the first record to one at least as far as it acknowledged, in whole batches. */
async function checkRecords(store: Store, writer: string, after: number, acknowledged: number): Promise<number> {
  const end = await store.log.position("records");
  const entries = await store.log.read("records", { after, limit: end - after + 1 });
  const records = entries.map(({ value }) => value as unknown as StoredRecord);

  expect(entries.map(({ position }) => position)).toEqual(entries.map((_, index) => after + index + 1));
  expect(records.map(({ number }) => number)).toEqual(records.map((_, index) => index + 1));
  expect(records.every((record) => record.writer === writer)).toBe(true);
  expect(records.length).toBeGreaterThanOrEqual(acknowledged);
  const last = records.at(-1);
  expect(records.filter(({ batch }) => batch === last?.batch)).toHaveLength(last?.size ?? 0);
  return end;
}

async function checkValues(store: Store, writer: string, lines: readonly string[]): Promise<void> {
  const kept = (await store.kv.get(`last:${writer}`))?.value ?? 0;
  expect(kept).toBeGreaterThanOrEqual(lastOf(lines, "kv"));
  const jobs = lines.filter((line) => line.startsWith("job ")).map((line) => `${writer}-${line.slice(4)}`);
  // An id that is there is not added again.
  const added = await Promise.all(jobs.map((id) => store.queue("jobs").add(id)));
  expect(added.filter(Boolean)).toEqual([]);
}

function lastOf(lines: readonly string[], kind: string): number {
  const line = lines.findLast((line) => line.startsWith(`${kind} `));
  return Number(line?.slice(kind.length + 1) ?? 0);
}

function checkIntegrity(file: string): void {
  const database = new DatabaseSync(file);
  const result = database.prepare("PRAGMA integrity_check").all();
  database.close();
  expect(result).toEqual([{ integrity_check: "ok" }]);
}
