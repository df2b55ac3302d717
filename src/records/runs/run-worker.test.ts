import { expect, test } from "vitest";

import { createFakeClock, type FakeClock } from "../../../test/support/fake-clock.ts";
import { createRunProcess, type Fault, type RunProcess } from "../../../test/support/run-process.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { AddRunOptions } from "./create-runs.ts";
import type { RunHandler } from "./run.ts";

const leaseMs = 3000;

test("work() takes up a run that was added, at once, and ends it with what the handler returns", async () => {
  const { first, clock } = createWorld();
  first.runs.work((run) => run.past.map(({ value }) => value.type));
  await clock.advance(0);

  await first.runs.add("a", { events: [{ type: "task", text: "hello" }] });
  await clock.advance(0);

  expect(await outcomeOf(first)).toEqual({ status: "ok", output: ["run-start", "task"] });
});

test("work() finds a run that was added elsewhere when it looks the next time", async () => {
  const { first, second, clock } = createWorld();
  first.runs.work(() => "done");
  await clock.advance(0);

  await second.runs.add("a");
  await clock.advance(500);

  expect(await outcomeOf(first)).toEqual({ status: "ok", output: "done" });
});

test("add() answers whether the run is new, and does nothing for one that has ended", async () => {
  const { first, clock, store } = createWorld();
  const answers = [await first.runs.add("a"), await first.runs.add("a", { events: [{ type: "late" }] })];
  first.runs.work(() => 1);
  await clock.advance(1000);

  answers.push(await first.runs.add("a"));

  expect(answers).toEqual([true, false, false]);
  expect(await typesOf(first)).toEqual(["run-start", "lease-start", "run-end"]);
  expect(await store.queue("runs").count()).toEqual({ ready: 0, delayed: 0, claimed: 0 });
  expect(await store.kv.list()).toEqual([]);
});

test.for<AddRunOptions>([
  { delayMs: -1 },
  { delayMs: Number.NaN },
  { priority: 1e9 },
  { events: [{ type: "run-end" }] },
])("add() refuses %j, and there is no such run", async (options) => {
  const { first } = createWorld();

  await expect(first.runs.add("a", options)).rejects.toMatchObject({ code: "option-invalid" });
  expect(await first.runs.list()).toEqual([]);
});

test("work() takes as many runs at the same time as it may", async () => {
  const { first, clock } = createWorld();
  let active = 0;
  let most = 0;
  const handler: RunHandler = async () => {
    most = Math.max(most, (active += 1));
    await new Promise((resolve) => void clock.after(100, () => resolve(undefined)));
    active -= 1;
  };
  for (let index = 0; index < 20; index++) await first.runs.add(`run-${index}`);

  first.runs.work(handler, { concurrency: 4 });
  await clock.advance(600);

  expect(most).toBe(4);
  expect((await first.runs.list()).filter(({ status }) => status === "ok")).toHaveLength(20);
});

test("work() takes over the run of a worker that died, within the lease and two seconds, and repeats no finished step", async () => {
  const { first, second, clock } = createWorld();
  const effects: string[] = [];
  await first.runs.add("a");
  first.runs.work(twoSteps(effects, "first", () => new Promise(() => undefined)));
  second.runs.work(twoSteps(effects, "second"));
  await clock.advance(leaseMs * 5);
  first.kill();
  await clock.advance(leaseMs + 2000);

  expect(await outcomeOf(second)).toEqual({ status: "ok", output: ["first", "second"] });
  expect(effects).toEqual(["first one", "first two", "second two"]);
});

test("work() takes over within the same time although the clock went back an hour", async () => {
  const { first, second, clock } = createWorld();
  await first.runs.add("a");
  first.runs.work(() => new Promise(() => undefined));
  second.runs.work(() => "second");
  await clock.advance(100);
  first.kill();
  clock.jump(-3_600_000);
  await clock.advance(leaseMs + 2000);

  expect(await outcomeOf(second)).toEqual({ status: "ok", output: "second" });
});

test("work() leaves a long run with its worker although the clock jumps forward an hour", async () => {
  const { first, clock } = createWorld();
  await first.runs.add("a");
  first.runs.work(async (run) => {
    await new Promise((resolve) => void clock.after(leaseMs * 4, () => resolve(undefined)));
    return run.epoch;
  });
  await clock.advance(100);
  clock.jump(3_600_000);
  await clock.advance(leaseMs * 5);

  expect(await outcomeOf(first)).toEqual({ status: "ok", output: 1 });
});

test("work() of a worker that was stopped too long writes nothing and starts nothing when it wakes", async () => {
  const { first, second, clock } = createWorld();
  const effects: string[] = [];
  const gate = Promise.withResolvers<void>();
  await first.runs.add("a");
  first.runs.work(twoSteps(effects, "first", () => first.pass(gate.promise)));
  await clock.advance(10);
  first.pause();
  second.runs.work(twoSteps(effects, "second"));
  await clock.advance(leaseMs + 2000);
  gate.resolve();
  first.resume();
  await clock.advance(leaseMs * 2);

  expect(await outcomeOf(second)).toEqual({ status: "ok", output: ["first", "second"] });
  expect(effects).toEqual(["first one", "first two", "second two"]);
});

test("work() does not take up a run that is just being paused", async () => {
  const { first, second, clock } = createWorld();
  let calls = 0;
  const pause: RunHandler = async (run) => {
    calls += 1;
    // Stopped when the lease is given back, and before the run is taken out of the running ones.
    first.setFault({ after: 2, side: "before", kind: "pause" });
    await run.pause();
  };
  await first.runs.add("a");
  first.runs.work(pause);
  await clock.advance(0);
  second.runs.work(pause);
  await clock.advance(100);
  first.resume();
  await clock.advance(leaseMs * 2);

  expect(calls).toBe(1);
});

test("work() lets a run go whose end it could not write, and takes it up again", async () => {
  const { first, clock } = createWorld();
  const causes: unknown[] = [];
  await first.runs.add("a");
  first.runs.work(
    ({ epoch }) => {
      if (epoch === 1) first.setFault(awayFor(6));
      return epoch;
    },
    { onError: (cause) => void causes.push(cause) },
  );
  await clock.advance(leaseMs + 2000);

  expect(causes).toContainEqual(expect.objectContaining({ code: "store-unavailable" }));
  expect(await outcomeOf(first)).toEqual({ status: "ok", output: 2 });
});

test("work() keeps the job of a long run", async () => {
  const { first, clock, store } = createWorld();
  await first.runs.add("a");
  first.runs.work(() => new Promise(() => undefined));
  await clock.advance(leaseMs * 5);

  expect(await store.queue("runs").count()).toEqual({ ready: 0, delayed: 0, claimed: 1 });
});

test("work() runs a run that the queue has lost", async () => {
  const { first, clock, store } = createWorld();
  await first.runs.add("a");
  for (const job of await store.queue("runs").claim({ leaseMs: 1 })) await store.queue("runs").complete(job);

  first.runs.work(() => "found");
  await clock.advance(600);

  expect(await outcomeOf(first)).toEqual({ status: "ok", output: "found" });
});

test("work() does no harm to a run whose job comes twice", async () => {
  const { first, second, clock, store } = createWorld();
  let count = 0;
  await first.runs.add("a");
  const slow: RunHandler = async (run) => {
    await run.step("send", {}, async () => (count += 1));
    await new Promise((resolve) => void clock.after(leaseMs * 3, () => resolve(undefined)));
  };
  first.runs.work(slow);
  second.runs.work(slow);
  await clock.advance(10);
  const claimed = await store.queue("runs").claim({ leaseMs: 1 });
  for (const attempt of [1, 2])
    await store
      .queue("runs")
      .complete({ id: "a", attempt })
      .catch(() => undefined);
  await store.queue("runs").add("a");
  await clock.advance(leaseMs * 5);

  expect(claimed).toEqual([]);
  expect(count).toBe(1);
  expect((await typesOf(first)).filter((type) => type === "run-end")).toHaveLength(1);
  expect(await store.queue("runs").count()).toEqual({ ready: 0, delayed: 0, claimed: 0 });
});

test("work() tries a run again that failed, later each time, and ends it as failed at the last", async () => {
  const { first, clock } = createWorld();
  const times: number[] = [];
  await first.runs.add("a");
  const start = clock.elapsed();
  first.runs.work(
    (run) => {
      times.push(clock.elapsed() - start);
      throw new Error(`broken ${run.attempt}`);
    },
    { maxAttempts: 3, retryDelayMs: 1000 },
  );
  await clock.advance(10_000);

  expect(times).toHaveLength(3);
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(1000);
  expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(2000);
  expect(await outcomeOf(first)).toEqual({ status: "failed", error: { message: "broken 3" } });
});

test("work() ends a run as failed that kills each of its workers", async () => {
  const { store, clock } = createWorld();
  for (let index = 0; index < 5; index++) {
    const process = createRunProcess({ store, clock, worker: `worker-${index}`, leaseMs });
    await process.runs.add("a");
    process.runs.work(() => {
      process.kill();
      return new Promise(() => undefined);
    });
    await clock.advance(leaseMs + 2000);
    process.kill();
  }
  const last = createRunProcess({ store, clock, worker: "last", leaseMs });

  expect(await outcomeOf(last)).toEqual({
    status: "failed",
    error: { message: "Cannot finish the run: it was taken up 3 times and did not end" },
  });
});

test("work() parks a run with a step that may have happened, until somebody resolves it and adds it again", async () => {
  const { first, second, clock } = createWorld();
  let count = 0;
  await first.runs.add("a");
  first.runs.work((run) => run.step("pay", {}, () => ((count += 1), new Promise<void>(() => undefined))));
  await clock.advance(10);
  first.kill();
  second.runs.work((run) => run.step<JsonValue>("pay", {}, () => (count += 1)));
  await clock.advance(leaseMs * 5);
  const parked = await second.runs.list();

  const run = await second.runs.open("a");
  await run.resolve("pay", { output: "paid" });
  await run.close();
  await second.runs.add("a");
  await clock.advance(10);

  expect(parked).toMatchObject([{ id: "a", status: "review" }]);
  expect(await outcomeOf(second)).toEqual({ status: "ok", output: "paid" });
  expect(count).toBe(1);
});

test("work() leaves a paused run alone until it is added again", async () => {
  const { first, clock } = createWorld();
  let calls = 0;
  await first.runs.add("a");
  first.runs.work(async (run) => {
    calls += 1;
    if (run.past.some(({ value }) => value.type === "approval-granted")) return "approved";
    return run.pause();
  });
  await clock.advance(leaseMs * 5);
  const before = calls;

  const run = await first.runs.open("a");
  await run.append([{ type: "approval-granted" }]);
  await run.close();
  await first.runs.add("a");
  await clock.advance(10);

  expect(before).toBe(1);
  expect(await outcomeOf(first)).toEqual({ status: "ok", output: "approved" });
});

test("work() goes on with a run that is added again while it is being paused", async () => {
  const { first, clock } = createWorld();
  let calls = 0;
  await first.runs.add("a");
  first.runs.work(async (run) => {
    calls += 1;
    if (calls === 2) return "second";
    await first.runs.add("a");
    return run.pause();
  });
  await clock.advance(10);

  expect(await outcomeOf(first)).toEqual({ status: "ok", output: "second" });
});

test("stop() aborts the handlers, gives their runs back and counts no failure", async () => {
  const { first, second, clock, store } = createWorld();
  await first.runs.add("a");
  const worker = first.runs.work(async (run) => {
    await new Promise((resolve) => {
      run.signal.addEventListener("abort", resolve);
    });
    throw run.signal.reason;
  });
  await clock.advance(10);

  await worker.stop();

  expect(await store.queue("runs").count()).toEqual({ ready: 1, delayed: 0, claimed: 0 });
  second.runs.work((run) => run.attempt);
  await clock.advance(500);
  expect(await outcomeOf(second)).toEqual({ status: "ok", output: 1 });
});

test("stop() also aborts a run that is just being opened", async () => {
  const { first, clock } = createWorld();
  let isAborted: boolean | undefined;
  await first.runs.add("a");
  // The job is claimed, and the lease is being taken.
  first.setFault({ after: 2, side: "before", kind: "pause" });
  const worker = first.runs.work((run) => {
    isAborted = run.signal.aborted;
  });
  await clock.advance(10);
  const stopped = worker.stop();
  first.resume();
  await stopped;

  expect(isAborted).toBe(true);
});

test("work() does not take up a run before its delay is over", async () => {
  const { first, clock } = createWorld();
  await first.runs.add("a", { delayMs: 60_000 });
  first.runs.work(() => "done");
  await clock.advance(59_000);
  const before = await outcomeOf(first);
  await clock.advance(2000);

  expect(before).toBeUndefined();
  expect(await outcomeOf(first)).toEqual({ status: "ok", output: "done" });
});

test("work() waits as long as a run said that added itself again before it paused", async () => {
  const { first, clock } = createWorld();
  const times: number[] = [];
  await first.runs.add("a");
  first.runs.work(async (run) => {
    times.push(clock.elapsed());
    await first.runs.add(run.id, { delayMs: 60_000 });
    await run.pause();
  });
  await clock.advance(150_000);

  expect(times.map((time) => Math.floor(time / 10_000))).toEqual([0, 6, 12]);
});

test("work() takes up a run that was delayed when it is added again without a delay", async () => {
  const { first, clock } = createWorld();
  first.runs.work(() => "done");
  await first.runs.add("a", { delayMs: 3_600_000 });
  await clock.advance(5000);
  const before = await outcomeOf(first);

  await first.runs.add("a");
  await clock.advance(0);

  expect([before, await outcomeOf(first)]).toEqual([undefined, { status: "ok", output: "done" }]);
});

test("work() takes up the sooner of two times that a run was added for while it was being worked on", async () => {
  const { first, clock } = createWorld();
  const times: number[] = [];
  await first.runs.add("a");
  first.runs.work(async (run) => {
    times.push(clock.elapsed());
    if (times.length > 1) return;
    for (const delayMs of [5000, 3_600_000]) await first.runs.add(run.id, { delayMs });
    await run.pause();
  });
  await clock.advance(7000);

  expect(times).toHaveLength(2);
  expect(times[1]).toBeGreaterThanOrEqual(5000);
});

test("work() takes up a run before others when it is added again with a higher priority", async () => {
  const { first, clock } = createWorld();
  for (const id of ["a", "b", "c"]) await first.runs.add(id);
  await first.runs.add("c", { priority: 5 });
  const order: string[] = [];
  first.runs.work((run) => void order.push(run.id));
  await clock.advance(1000);

  expect(order).toEqual(["c", "a", "b"]);
});

test("work() keeps the priority of a run that failed", async () => {
  const { first, clock } = createWorld();
  const order: string[] = [];
  await first.runs.add("low", { priority: -5 });
  const worker = first.runs.work(
    (run) => {
      order.push(run.id);
      throw new Error("no");
    },
    { retryDelayMs: 60_000 },
  );
  // The queued runs are looked at more than once in this time.
  await clock.advance(30_000);
  await worker.stop();
  await clock.advance(60_000);
  await first.runs.add("usual");
  first.runs.work((run) => void order.push(run.id));
  await clock.advance(1000);

  expect(order).toEqual(["low", "usual", "low"]);
});

test("work() goes on when the store comes back, and tells what went wrong", async () => {
  const { first, clock } = createWorld();
  const causes: unknown[] = [];
  first.runs.work(() => "done", { onError: (cause) => void causes.push(cause) });
  await clock.advance(10);
  first.setFault({ after: 0, side: "before", kind: "away" });
  await clock.advance(1000);
  await first.runs.add("a");
  await clock.advance(10);

  expect(causes).toMatchObject([{ code: "store-unavailable" }]);
  expect(await outcomeOf(first)).toEqual({ status: "ok", output: "done" });
});

test("work() ends by itself when the store is closed", async () => {
  const { first, clock, store } = createWorld();
  const causes: unknown[] = [];
  const worker = first.runs.work(() => "done", { onError: (cause) => void causes.push(cause) });
  await clock.advance(10);
  await store.close();
  await clock.advance(10_000);

  await worker.stop();

  expect(causes).toMatchObject([{ code: "store-closed" }]);
});

test.for([{ concurrency: 0 }, { pollMs: 0 }, { maxAttempts: 0 }, { retryDelayMs: -1 }, { concurrency: 1.5 }])(
  "work() refuses %j",
  (options) => {
    const { first } = createWorld();

    expect(() => first.runs.work(() => 1, options)).toThrow(expect.objectContaining({ code: "option-invalid" }));
  },
);

test.for<unknown>([undefined, "run", {}])("work() refuses the handler %j", (handler) => {
  const { first } = createWorld();

  expect(() => first.runs.work(handler as RunHandler)).toThrow(expect.objectContaining({ code: "option-invalid" }));
});

interface World {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly first: RunProcess;
  readonly second: RunProcess;
}

function createWorld(): World {
  const clock = createFakeClock();
  const store = memoryStore({ now: clock.now });
  const [first, second] = ["first", "second"].map((worker) => createRunProcess({ store, clock, worker, leaseMs }));
  return { store, clock, first: first!, second: second! };
}

/** Does two idempotent steps that say who did them, and where; `wait` is in the second. */
function twoSteps(effects: string[], name: string, wait: () => Promise<unknown> = () => Promise.resolve()): RunHandler {
  return async (run) => {
    const one = await run.step("one", { idempotent: true }, () => {
      effects.push(`${name} one`);
      return name;
    });
    const two = await run.step("two", { idempotent: true }, async () => {
      effects.push(`${name} two`);
      await wait();
      return name;
    });
    return [one, two];
  };
}

/** The store is away for the next so many reads and writes. */
function awayFor(count: number): Fault {
  const fault = { after: 0, side: "before", kind: "away" } as const;
  return count === 1 ? fault : { ...fault, next: awayFor(count - 1) };
}

async function outcomeOf({ runs }: RunProcess): Promise<unknown> {
  return (await runs.read("a")).at(-1)?.value["outcome"];
}

async function typesOf({ runs }: RunProcess): Promise<string[]> {
  return (await runs.read("a")).map(({ value }) => value.type);
}
