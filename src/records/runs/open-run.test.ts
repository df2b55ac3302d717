import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { sqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { createRuns, type Runs } from "./create-runs.ts";

test("open() begins a run in SQLite with its lease and its first events", async () => {
  const { runs, store } = await createWorld();

  const run = await runs.open("a", { events: [{ type: "note", text: "hello" }] });

  expect(run).toMatchObject({ epoch: 1, past: [] });
  expect(await typesOf(runs, "a")).toEqual(["lease-start", "note"]);
  expect((await store.kv.get("run-lease:a"))?.value).toMatchObject({ worker: "first" });
});

test("end() writes the last record and gives the lease back", async () => {
  const { runs, store } = await createWorld();
  const run = await runs.open("a", { events: [{ type: "note" }] });
  await run.append([{ type: "note" }]);

  await run.end({ status: "ok", output: 1 });

  expect(await typesOf(runs, "a")).toEqual(["lease-start", "note", "note", "run-end"]);
  expect(await store.kv.get("run-lease:a")).toBeUndefined();
});

test("open() of a run that somebody has writes neither its events nor another lease", async () => {
  const { runs, other, store } = await createWorld();
  await store.kv.set("run-lease:a", { worker: "first", token: "x", leaseMs: 10_000, until: 0 });

  const refusal = other.open("a", { events: [{ type: "note" }] });

  await expect(refusal).rejects.toMatchObject({ code: "run-leased", details: { worker: "first" } });
  expect(await typesOf(runs, "a")).toEqual([]);
});

test("open() of a run that is there takes its lease, and leaves out the events", async () => {
  const { runs, other } = await createWorld();
  await (await runs.open("a")).close();

  const run = await other.open("a", { events: [{ type: "note" }] });

  expect(run.epoch).toBe(2);
  expect(await typesOf(runs, "a")).toEqual(["lease-start", "lease-end", "lease-start"]);
});

test("open() is refused to one of two who begin a run at the same time", async () => {
  const { runs, other } = await createWorld();
  const events = [{ type: "note" }];

  const results = await Promise.allSettled([runs.open("a", { events }), other.open("a", { events })]);

  expect(results).toMatchObject([{ status: "fulfilled" }, { status: "rejected", reason: { code: "run-leased" } }]);
  expect(await typesOf(runs, "a")).toEqual(["lease-start", "note"]);
});

test("open() refuses events that are no JSON, and begins nothing", async () => {
  const { runs, store } = await createWorld();

  const refusal = runs.open("a", { events: [{ type: "note", number: Number.NaN }] });

  await expect(refusal).rejects.toMatchObject({ code: "store-value-invalid" });
  expect(await typesOf(runs, "a")).toEqual([]);
  expect(await store.kv.get("run-lease:a")).toBeUndefined();
});

test("end() of somebody who was taken over writes nothing, and leaves the new lease alone", async () => {
  const { runs, other, store } = await createWorld();
  const run = await runs.open("a", { events: [{ type: "note" }] });
  await store.kv.delete("run-lease:a");
  await other.open("a");

  await expect(run.end({ status: "ok", output: 1 })).rejects.toMatchObject({ code: "lease-lost" });

  expect(await typesOf(runs, "a")).toEqual(["lease-start", "note", "lease-start"]);
  expect((await store.kv.get("run-lease:a"))?.value).toMatchObject({ worker: "second" });
});

test("end() ends a run although its lease was written by somebody else meanwhile, and leaves that alone", async () => {
  const { runs, store } = await createWorld();
  const run = await runs.open("a", { events: [{ type: "note" }] });
  await store.kv.set("run-lease:a", { worker: "second", token: "x", leaseMs: 10_000, until: 0 });

  await run.end({ status: "ok", output: 1 });

  expect((await store.kv.get("run-lease:a"))?.value).toMatchObject({ worker: "second" });
  expect(await typesOf(runs, "a")).toEqual(["lease-start", "note", "run-end"]);
});

test("open() begins a run also where leases are kept elsewhere than the journal", async () => {
  const { store: base } = await createWorld();
  const leases = memoryStore();
  const runs = createRuns({ store: { ...base, kv: leases.kv } });

  const run = await runs.open("a", { events: [{ type: "note" }] });

  expect(await leases.kv.get("run-lease:a")).toBeDefined();
  await run.end({ status: "ok", output: 1 });
  expect(await typesOf(runs, "a")).toEqual(["lease-start", "note", "run-end"]);
  expect(await leases.kv.get("run-lease:a")).toBeUndefined();
});

test("step() answers with what was recorded, also if somebody has changed what it answered before", async () => {
  const { runs } = await createWorld();
  const run = await runs.open("a");
  const first = await run.step("count", {}, () => ({ list: [1] }));
  first.list.push(2);

  const second = await run.step("count", {}, () => ({ list: [3] }));

  expect(second).toEqual({ list: [1] });
});

/** Two workers on one file. */
async function createWorld(): Promise<{ runs: Runs; other: Runs; store: Store }> {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-runs-"));
  const file = join(folder, "kitbag.db");
  const store = await sqliteStore({ file });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return {
    runs: createRuns({ store, worker: "first" }),
    other: createRuns({ store, worker: "second" }),
    store,
  };
}

async function typesOf(runs: Runs, id: string): Promise<string[]> {
  return (await runs.read(id)).map(({ value }) => value.type);
}
