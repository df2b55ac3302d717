import { expect, test } from "vitest";

import { createFakeClock, type FakeClock } from "../../../test/support/fake-clock.ts";
import { isKitbagError, KitbagError, type ErrorCode } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns, type Runs } from "./create-runs.ts";
import type { RunEvent, RunOutcome } from "./run-records.ts";
import type { RunsOptions } from "./runs-options.ts";

const leaseMs = 3000;

test("open() makes a run whose journal begins with the lease", async () => {
  const { runs } = createWorld();

  const run = await runs.open("a");

  expect(run).toMatchObject({ id: "a", epoch: 1, attempt: 1, past: [] });
  expect(await typesOf(runs, "a")).toEqual(["lease-start"]);
});

test("open() is refused while somebody else has the lease, and says who and until when", async () => {
  const { runs, other } = createWorld();
  await runs.open("a");

  const refusal = await other.open("a").catch((cause: unknown) => cause);

  expect(refusal).toMatchObject({
    code: "run-leased",
    details: { run: "a", worker: "first", until: "2023-11-14T22:13:23.000Z" },
  });
});

test("open() is refused to two of three who come at the same time", async () => {
  const { runs, other } = createWorld();

  const results = await Promise.allSettled([runs.open("a"), other.open("a"), runs.open("a")]);

  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
  for (const result of results) {
    if (result.status === "rejected") expect(isKitbagError(result.reason, "run-leased")).toBe(true);
  }
});

test("open() gives the next one what was written before, and a higher epoch", async () => {
  const { runs, other } = createWorld();
  const first = await runs.open("a");
  await first.append([{ type: "note", text: "hello" }]);
  await first.close();

  const second = await other.open("a");

  expect(second.epoch).toBe(2);
  expect(second.past.map(({ value }) => value.type)).toEqual(["lease-start", "note", "lease-end"]);
});

test("open() after a crash waits for the end of the lease, and no longer", async () => {
  const { runs, other, clock } = createWorld();
  await runs.open("a");
  const restarted = createWorld({ clock, store: runs.store }).other;
  runs.stop();
  await clock.advance(leaseMs - 1);

  await expectCode(restarted.open("a"), "run-leased");
  await clock.advance(1);

  expect((await other.open("a")).epoch).toBe(2);
});

test("open() takes over a dead lease within its time although the clock went back an hour", async () => {
  const { runs, other, clock } = createWorld();
  await runs.open("a");
  runs.stop();
  clock.jump(-3_600_000);
  await expectCode(other.open("a"), "run-leased");
  await clock.advance(leaseMs);

  expect((await other.open("a")).epoch).toBe(2);
});

test("open() is refused while the lease is renewed, however long that takes and whatever the clock does", async () => {
  const { runs, other, clock } = createWorld();
  const run = await runs.open("a");

  for (const jump of [0, 0, -3_600_000, 0, 0]) {
    clock.jump(jump);
    await clock.advance(leaseMs);
    await expectCode(other.open("a"), "run-leased");
  }

  expect(run.signal.aborted).toBe(false);
});

test("open() is refused when the run has ended", async () => {
  const { runs, other } = createWorld();
  await (await runs.open("a")).end({ status: "ok", output: 1 });

  await expectCode(other.open("a"), "run-ended");
  expect(await typesOf(runs, "a")).toEqual(["lease-start", "run-end"]);
  expect(await runs.store.kv.list()).toEqual([]);
});

test.for(["", "a\0b", "\ud83d", "x".repeat(1001), 5, null])("open() refuses the id %j", async (id) => {
  const { runs } = createWorld();

  await expectCode(runs.open(id as string), "store-key-invalid");
});

test("open() takes any id that can be a key", async () => {
  const { runs } = createWorld();

  for (const id of ["__proto__", "x".repeat(1000), "a:b", "🎒"]) {
    const run = await runs.open(id);
    await run.end({ status: "ok", output: null });
  }

  expect((await runs.list()).map(({ id, status }) => [id, status])).toEqual([
    ["__proto__", "ok"],
    ["a:b", "ok"],
    ["x".repeat(1000), "ok"],
    ["🎒", "ok"],
  ]);
});

test("append() writes in the order of the calls without waiting", async () => {
  const { runs } = createWorld();
  const run = await runs.open("a");

  const appends = Array.from({ length: 100 }, (_, index) => run.append([{ type: "note", index }]));

  expect(await Promise.all(appends)).toEqual(Array.from({ length: 100 }, (_, index) => index + 2));
  expect((await runs.read("a", { after: 1 })).map(({ value }) => value["index"])).toEqual(
    Array.from({ length: 100 }, (_, index) => index),
  );
});

test("append() of somebody who was taken over writes nothing, and aborts the signal", async () => {
  const { runs, other, clock } = createWorld();
  const zombie = await runs.open("a");
  runs.pause();
  await clock.advance(leaseMs);
  await other.open("a");
  runs.resume();

  await expectCode(zombie.append([{ type: "note" }]), "lease-lost");
  await expectCode(zombie.append([{ type: "note" }]), "lease-lost");
  await expectCode(zombie.end({ status: "ok", output: 1 }), "lease-lost");
  await zombie.close();

  expect(zombie.signal.aborted).toBe(true);
  expect(isKitbagError(zombie.signal.reason, "lease-lost")).toBe(true);
  expect(await typesOf(other, "a")).toEqual(["lease-start", "lease-start"]);
});

test("append() goes on after a pause in which nobody took the run over", async () => {
  const { runs, clock } = createWorld();
  const run = await runs.open("a");
  runs.pause();
  await clock.advance(leaseMs * 10);
  runs.resume();
  await clock.advance(leaseMs);

  await run.append([{ type: "note" }]);

  expect(run.signal.aborted).toBe(false);
});

test("the signal is aborted by the heartbeat when somebody else has taken the run", async () => {
  const { runs, other, clock } = createWorld();
  const zombie = await runs.open("a");
  runs.pause();
  await clock.advance(leaseMs);
  await other.open("a");
  runs.resume();
  await clock.advance(1);

  expect(isKitbagError(zombie.signal.reason, "lease-lost")).toBe(true);
});

test("the signal is aborted by the heartbeat when somebody else had the run, and has given it back", async () => {
  const { runs, other, clock } = createWorld();
  const zombie = await runs.open("a");
  runs.pause();
  await clock.advance(leaseMs);
  await (await other.open("a")).close();
  runs.resume();
  await clock.advance(1);

  expect(isKitbagError(zombie.signal.reason, "lease-lost")).toBe(true);
});

test("the signal is aborted when the store cannot be reached for the time of the lease", async () => {
  const { runs, clock } = createWorld();
  const run = await runs.open("a");
  runs.fail = true;
  await clock.advance(leaseMs * 0.9);
  const before = run.signal.aborted;
  await clock.advance(leaseMs);

  expect([before, run.signal.aborted]).toEqual([false, true]);
  expect((run.signal.reason as Error).message).toContain("it could not be renewed for 3000 ms");
});

test("the signal is aborted when the store does not answer for the time of the lease", async () => {
  const { runs, clock } = createWorld();
  const run = await runs.open("a");
  runs.hang = true;
  await clock.advance(leaseMs * 0.9);
  const before = run.signal.aborted;
  await clock.advance(leaseMs);

  expect([before, run.signal.aborted]).toEqual([false, true]);
});

test("append() goes on when the store comes back before the lease is over", async () => {
  const { runs, clock } = createWorld();
  const run = await runs.open("a");
  runs.fail = true;
  await clock.advance(leaseMs / 2);
  await expectCode(run.append([{ type: "lost" }]), "store-unavailable");
  runs.fail = false;

  await run.append([{ type: "kept" }]);

  expect(await typesOf(runs, "a")).toEqual(["lease-start", "kept"]);
});

test.for<[what: string, events: unknown]>([
  ["no list", { type: "a" }],
  ["an event without a type", [{ text: "a" }]],
  ["an empty type", [{ type: "" }]],
  ["a type that is no text", [{ type: 5 }]],
  ["nothing", [null]],
  ["a record of Kitbag", [{ type: "ok" }, { type: "lease-start", epoch: 9 }]],
  ["an outcome", [{ type: "step-outcome", step: "a", output: 1 }]],
])("append() refuses %s", async ([, events]) => {
  const { runs } = createWorld();
  const run = await runs.open("a");

  await expectCode(run.append(events as RunEvent[]), "option-invalid");
  expect(await typesOf(runs, "a")).toEqual(["lease-start"]);
});

test("append() of a value that is no JSON spoils nobody else's", async () => {
  const { runs } = createWorld();
  const run = await runs.open("a");

  const results = await Promise.allSettled([
    run.append([{ type: "one" }]),
    run.append([{ type: "bad", value: Number.NaN }]),
    run.append([{ type: "two" }]),
  ]);

  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await typesOf(runs, "a")).toEqual(["lease-start", "one", "two"]);
});

test("append() and end() are refused after end(), and a second end() changes nothing", async () => {
  const { runs } = createWorld();
  const run = await runs.open("a");
  await run.end({ status: "ok", output: 1 });

  await expectCode(run.append([{ type: "note" }]), "run-ended");
  await expectCode(run.end({ status: "failed", error: { message: "no" } }), "run-ended");
  await run.close();

  expect((await runs.read("a")).at(-1)?.value).toEqual({ type: "run-end", outcome: { status: "ok", output: 1 } });
});

test.for<unknown>([
  undefined,
  null,
  "ok",
  { status: "ok" },
  { status: "failed" },
  { status: "failed", error: {} },
  { status: "done", output: 1 },
])("end() refuses %j, and the run goes on", async (outcome) => {
  const { runs } = createWorld();
  const run = await runs.open("a");

  await expectCode(run.end(outcome as RunOutcome), "option-invalid");
  await run.append([{ type: "note" }]);

  expect(await typesOf(runs, "a")).toEqual(["lease-start", "note"]);
});

test("end() with an output that is no JSON changes nothing", async () => {
  const { runs } = createWorld();
  const run = await runs.open("a");

  await expectCode(run.end({ status: "ok", output: Number.NaN }), "store-value-invalid");
  await run.end({ status: "ok", output: null });

  expect(await typesOf(runs, "a")).toEqual(["lease-start", "run-end"]);
});

test("append() that is called after close() but before it is done writes nothing behind it", async () => {
  const { runs } = createWorld();
  const run = await runs.open("a");

  const closing = run.close();
  const append = run.append([{ type: "note" }]);

  await closing;
  await expectCode(append, "lease-lost");
  expect(await typesOf(runs, "a")).toEqual(["lease-start", "lease-end"]);
});

test("close() gives the lease back at once, also while it is being renewed", async () => {
  const { runs, other, clock } = createWorld();
  const run = await runs.open("a");
  const renewal = clock.advance(leaseMs / 3);
  await Promise.all([run.close(), renewal]);

  expect((await other.open("a")).epoch).toBe(2);
});

test("tail() shows a run while it happens, without a lease", async () => {
  const { runs, other } = createWorld();
  const types: string[] = [];
  const reader = (async () => {
    for await (const { value } of other.tail("a")) {
      types.push(value.type);
      if (value.type === "run-end") return;
    }
  })();
  const run = await runs.open("a");
  await run.append([{ type: "note" }]);
  await run.end({ status: "ok", output: null });
  await reader;

  expect(types).toEqual(["lease-start", "note", "run-end"]);
});

test.for([{ type: "run-end" }, { type: "run-end", outcome: "ok" }, { type: "run-end", outcome: null }])(
  "a run has ended, and failed, whose last line is %j",
  async (line) => {
    const { runs } = createWorld();
    await (await runs.open("odd")).end({ status: "ok", output: 1 });
    await runs.store.log.append("run:even", [line]);

    expect((await runs.list()).map(({ id, status }) => [id, status])).toEqual([
      ["even", "failed"],
      ["odd", "ok"],
    ]);
    await expect(runs.open("even")).rejects.toMatchObject({ code: "run-ended" });
  },
);

test("list() says how each run is", async () => {
  const { runs, other } = createWorld();
  await runs.add("queued");
  await other.open("running");
  await (await runs.open("ok")).end({ status: "ok", output: 1 });
  await (await runs.open("failed")).end({ status: "failed", error: { message: "no" } });
  await (await runs.open("paused")).pause();

  const list = await runs.list();

  expect(list.map(({ id, status, entries }) => [id, status, entries])).toEqual([
    ["failed", "failed", 2],
    ["ok", "ok", 2],
    ["paused", "idle", 2],
    ["queued", "queued", 1],
    ["running", "running", 1],
  ]);
  expect(list.at(-1)?.lease).toMatchObject({ worker: "second" });
  expect(await runs.list({ after: "ok", limit: 1 })).toMatchObject([{ id: "paused" }]);
});

test.for<[options: Partial<Record<keyof RunsOptions, unknown>>, option: string]>([
  [{ leaseMs: 29 }, "leaseMs"],
  [{ leaseMs: Number.NaN }, "leaseMs"],
  [{ worker: "" }, "worker"],
  [{ worker: 5 }, "worker"],
  [{ store: undefined }, "store"],
  [{ store: {} }, "store"],
])("createRuns() refuses %j", ([options, option]) => {
  const make = (): unknown => createRuns({ store: memoryStore(), ...options } as RunsOptions);

  expect(make).toThrow(
    expect.objectContaining({ code: "option-invalid", details: expect.objectContaining({ option }) }),
  );
});

interface Process extends Runs {
  readonly store: Store;
  /** The process is gone. */
  stop(): void;
  pause(): void;
  resume(): void;
  /** The store cannot be reached. */
  fail: boolean;
  /** The store does not answer. */
  hang: boolean;
}

/** Two processes on one store. */
function createWorld(given: { clock?: FakeClock; store?: Store } = {}): {
  runs: Process;
  other: Process;
  clock: FakeClock;
} {
  const clock = given.clock ?? createFakeClock();
  const store = given.store ?? memoryStore({ now: clock.now });
  return { clock, runs: createProcess(store, clock, "first"), other: createProcess(store, clock, "second") };
}

function createProcess(store: Store, clock: FakeClock, worker: string): Process {
  let isStopped = false;
  const switches = { fail: false, hang: false };
  const reached = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (switches.hang) return () => new Promise(() => undefined);
        return switches.fail ? () => Promise.reject(unavailable()) : method;
      },
    });
  const runs = createRuns({
    store: { ...store, kv: reached(store.kv), log: reached(store.log) },
    worker,
    leaseMs,
    clock: clock.forProcess(() => isStopped),
  });
  return Object.assign(switches, runs, {
    store,
    stop: () => void (isStopped = true),
    pause: () => void (isStopped = true),
    resume: () => void (isStopped = false),
  });
}

function unavailable(): KitbagError {
  return new KitbagError("store-unavailable", { store: "test", reason: "away", cure: "wait", mayBeWritten: false });
}

async function typesOf(runs: Runs, id: string): Promise<string[]> {
  return (await runs.read(id)).map(({ value }) => value.type);
}

async function expectCode(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  await expect(promise).rejects.toMatchObject({ code });
}
