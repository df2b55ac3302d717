import { isDeepStrictEqual } from "node:util";

import { expect, test, vi } from "vitest";

import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { LogStore } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createJournal, readAll, type Journal } from "./run-journal.ts";

test("append() writes what is appended in one turn in one go, and what comes meanwhile in the next", async () => {
  const { journal, calls } = await createWorld();

  const first = [journal.append(["a"]), journal.append(["b", "c"]), journal.append([])];
  await new Promise(setImmediate);
  const second = [journal.append(["d"]), journal.append(["e"])];

  expect(await Promise.all([...first, ...second])).toEqual([2, 4, 4, 5, 6]);
  expect(calls).toEqual([
    ["a", "b", "c"],
    ["d", "e"],
  ]);
});

test("append() resolves for what was written although the answer was lost", async () => {
  const { journal, log, faults, told } = await createWorld();
  faults.push("lose answer");

  expect(await journal.append(["a", "b"])).toBe(3);
  expect(await journal.append(["c"])).toBe(4);
  expect(await valuesOf(log)).toEqual(["a", "b", "c"]);
  expect(told).toEqual(["a", "b", "c"]);
});

test("append() rejects for what was not written, and the next one is written in its place", async () => {
  const { journal, log, faults, told } = await createWorld();
  faults.push("refuse");

  await expect(journal.append(["a"])).rejects.toMatchObject({ code: "store-unavailable" });
  expect(await journal.append(["b"])).toBe(2);
  expect(await valuesOf(log)).toEqual(["b"]);
  expect(told).toEqual(["b"]);
});

test("append() finds out later what was written when it could not find out at once", async () => {
  const { journal, log, faults, told } = await createWorld();
  faults.push("lose answer", "refuse");

  await expect(journal.append(["a"])).rejects.toMatchObject({ code: "store-unavailable" });
  expect(await journal.append(["b"])).toBe(3);
  expect(await valuesOf(log)).toEqual(["a", "b"]);
  expect(told).toEqual(["a", "b"]);
});

test("append() rejects when it cannot find out what is there, and goes on when it can", async () => {
  const { journal, log, faults, told } = await createWorld();
  faults.push("lose answer", "refuse", "refuse");

  await expect(journal.append(["a"])).rejects.toMatchObject({ code: "store-unavailable" });
  await expect(journal.append(["b"])).rejects.toMatchObject({ code: "store-unavailable" });
  await journal.append(["c"]);
  expect(await valuesOf(log)).toEqual(["a", "c"]);
  expect(told).toEqual(["a", "c"]);
});

test("append() meets what was written late, and goes on behind it", async () => {
  const { journal, log, faults, told } = await createWorld();
  faults.push("refuse");
  await expect(journal.append(["a"])).rejects.toMatchObject({ code: "store-unavailable" });
  await log.append("run:1", ["a"]);

  await expect(journal.append(["b"])).rejects.toMatchObject({ code: "store-conflict" });
  expect(await journal.append(["c"])).toBe(3);
  expect(told).toEqual(["a", "c"]);
});

test("append() that was written before somebody else took the run resolves, although the answer was lost", async () => {
  const { journal, log, faults, lost } = await createWorld();
  faults.push("lose answer", async () => {
    await log.append("run:1", [{ type: "lease-start", epoch: 2, worker: "b" }]);
  });

  expect(await journal.append(["a"])).toBe(2);
  await expect(journal.append(["c"])).rejects.toMatchObject({
    code: "lease-lost",
    details: { run: "1", epoch: 1, reason: 'the worker "b" has taken it over' },
  });
  expect(lost).toHaveLength(1);
});

test("append() writes nothing after fence(), which counts once", async () => {
  const { journal, log, lost } = await createWorld();
  journal.fence("somebody said so");
  journal.fence("again");

  await expect(journal.append(["a"])).rejects.toMatchObject({ details: { reason: "somebody said so" } });
  expect(await valuesOf(log)).toEqual([]);
  expect(lost).toHaveLength(1);
});

test("append() writes nothing when fence() comes before it is sent", async () => {
  const { journal, log } = await createWorld();

  const append = journal.append(["a"]);
  journal.fence("somebody said so");

  await expect(append).rejects.toMatchObject({ code: "lease-lost" });
  expect(await valuesOf(log)).toEqual([]);
});

test("appendRecord() writes a record in one go with what is appended next in the same turn", async () => {
  const { journal, calls, later } = await createWorld();

  const held = journal.appendRecord(outcome, never);
  await Promise.resolve();
  const next = journal.append(["a"]);

  expect(await Promise.all([held, next])).toEqual([2, 3]);
  expect(calls).toEqual([[outcome, "a"]]);
  expect(later).toEqual([]);
});

test("appendRecord() writes a record when the event loop has turned, if nothing is appended", async () => {
  const { journal, log } = await createWorld();

  await journal.appendRecord(outcome, never);

  expect(await valuesOf(log)).toEqual([outcome]);
});

test("appendRecord() writes before everything else a record that could not be written at once", async () => {
  const { journal, log, faults, told, later } = await createWorld();
  faults.push("refuse");

  const held = journal.appendRecord(outcome, () => told.some((value) => isDeepStrictEqual(value, outcome)));
  await expect(journal.append(["a"])).rejects.toMatchObject({ code: "store-unavailable" });
  faults.push("refuse", "refuse");
  await expect(journal.append(["b"])).rejects.toMatchObject({ code: "store-unavailable" });
  const second = journal.appendRecord({ ...outcome, step: "2" }, never);
  expect(await journal.append(["c"])).toBe(4);

  await Promise.all([held, second]);
  expect(await valuesOf(log)).toEqual([outcome, { ...outcome, step: "2" }, "c"]);
  for (const again of later) again();
  await journal.append(["d"]);
  expect(await valuesOf(log)).toHaveLength(4);
});

test("appendRecord() writes a record before what was appended while it could not be written", async () => {
  const { journal, log, faults } = await createWorld();
  let next: Promise<number> | undefined;
  faults.push(async () => {
    next = journal.append(["a"]);
    throw unavailable(false);
  });

  await journal.appendRecord(outcome, never);

  expect(await next).toBe(3);
  expect(await valuesOf(log)).toEqual([outcome, "a"]);
});

test("appendRecord() tries again by itself", async () => {
  const { journal, log, faults, later } = await createWorld();
  faults.push("refuse");

  const held = journal.appendRecord(outcome, never);
  await vi.waitFor(() => expect(later).toHaveLength(1));
  later[0]?.();
  await held;

  expect(await valuesOf(log)).toEqual([outcome]);
});

test("appendRecord() writes nothing twice, although the store said that it was not written", async () => {
  const { journal, log, faults, told } = await createWorld();
  const isThere = (): boolean => told.some((value) => isDeepStrictEqual(value, outcome));
  faults.push("lose answer", "refuse");

  const held = journal.appendRecord(outcome, isThere);
  await expect(journal.append(["a"])).rejects.toMatchObject({ code: "store-unavailable" });
  expect(await journal.append(["b"])).toBe(4);
  await held;

  expect(await valuesOf(log)).toEqual([outcome, "a", "b"]);
});

test("appendRecord() rejects when the lease is lost, also while it waits to try again", async () => {
  const { journal, log, faults, later } = await createWorld();
  faults.push("refuse");
  const held = journal.appendRecord(outcome, never);
  await vi.waitFor(() => expect(later).toHaveLength(1));

  journal.fence("somebody said so");
  later[0]?.();

  await expect(held).rejects.toMatchObject({ code: "lease-lost" });
  await expect(journal.appendRecord(outcome, never)).rejects.toMatchObject({ code: "lease-lost" });
  expect(await valuesOf(log)).toEqual([]);
});

test("close() comes behind what was appended before", async () => {
  const { journal, log } = await createWorld();

  const held = journal.appendRecord(outcome, never);
  await journal.close("end");

  await held;
  expect(await valuesOf(log)).toEqual([outcome, "end"]);
});

test("close() that fails can be tried again, and until then the journal is open", async () => {
  const { journal, log, faults } = await createWorld();
  faults.push("refuse");

  await expect(journal.close("end")).rejects.toMatchObject({ code: "store-unavailable" });
  await journal.append(["a"]);
  await journal.close("end");

  await expect(journal.append(["b"])).rejects.toMatchObject({ code: "lease-lost" });
  await expect(journal.close("end")).rejects.toMatchObject({ code: "lease-lost" });
  expect(await valuesOf(log)).toEqual(["a", "end"]);
});

test("readAll() reads streams that are longer than a page", async () => {
  const { log } = memoryStore();
  await log.append(
    "run:1",
    Array.from({ length: 2500 }, (_, index) => index),
  );

  const entries = await readAll(log, "run:1", 10);

  expect(entries.map(({ position }) => position)).toEqual(Array.from({ length: 2490 }, (_, index) => index + 11));
});

const outcome = { type: "step-outcome", step: "1", output: 1 } as const;
const never = (): boolean => false;

/** What goes wrong with the next append or read, or what happens before it. */
type Fault = "refuse" | "lose answer" | (() => Promise<void>);

interface World {
  readonly journal: Journal;
  readonly log: LogStore;
  readonly faults: Fault[];
  /** What was sent to the store. */
  readonly calls: (readonly JsonValue[])[];
  readonly told: JsonValue[];
  readonly lost: KitbagError[];
  /** What is to be called when it is time to try again. */
  readonly later: (() => void)[];
}

/** A journal under the first lease of the run "1". */
async function createWorld(): Promise<World> {
  const { log } = memoryStore();
  const later: (() => void)[] = [];
  const [faults, calls, told, lost]: [Fault[], (readonly JsonValue[])[], JsonValue[], KitbagError[]] = [[], [], [], []];
  await log.append("run:1", [{ type: "lease-start", epoch: 1, worker: "a" }]);

  async function send<Answer>(operation: () => Promise<Answer>): Promise<Answer> {
    const fault = faults.shift();
    if (fault === "refuse") throw unavailable(false);
    if (typeof fault === "function") await fault();
    const answer = await operation();
    if (fault === "lose answer") throw unavailable(true);
    return answer;
  }

  const journal = createJournal({
    log: {
      ...log,
      append(stream, values, options) {
        calls.push(values);
        return send(() => log.append(stream, values, options));
      },
      read: (...args) => send(() => log.read(...args)),
    },
    stream: "run:1",
    runId: "1",
    epoch: 1,
    position: 1,
    onAppended: (value) => void told.push(value),
    onLost: (cause) => void lost.push(cause),
    later: (callback) => void later.push(callback),
  });
  return { journal, log, faults, calls, told, lost, later };
}

function unavailable(mayBeWritten: boolean): KitbagError {
  return new KitbagError("store-unavailable", { store: "test", reason: "away", cure: "wait", mayBeWritten });
}

async function valuesOf(log: LogStore): Promise<JsonValue[]> {
  return (await log.read("run:1", { after: 1 })).map(({ value }) => value);
}
