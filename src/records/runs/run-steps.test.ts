import { expect, test } from "vitest";

import { createFakeClock } from "../../../test/support/fake-clock.ts";
import { createRunProcess, type Fault, type RunProcess } from "../../../test/support/run-process.ts";
import type { ErrorCode } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { StepContext, StepResolution } from "./run.ts";

const leaseMs = 3000;

test("step() writes the intent before the work starts and the outcome before it answers", async () => {
  const { first } = createWorld();
  const run = await first.runs.open("a");
  let during: unknown;

  const output = await run.step("send", {}, async () => {
    during = (await first.runs.read("a")).at(-1)?.value;
    return { sent: 1 };
  });

  expect(output).toEqual({ sent: 1 });
  expect(during).toEqual({ type: "step-intent", step: "send", key: "a:send", attempt: 1, idempotent: false });
  expect((await first.runs.read("a")).at(-1)?.value).toEqual({
    type: "step-outcome",
    step: "send",
    output: { sent: 1 },
  });
});

test("step() gives its work the same key each time, and how often it was started", async () => {
  const { first, second, clock } = createWorld();
  const contexts: StepContext[] = [];
  void (await first.runs.open("a")).step("send", { idempotent: true }, (context) => {
    contexts.push(context);
    return new Promise<void>(() => undefined);
  });
  await clock.advance(0);
  first.kill();
  await clock.advance(leaseMs);

  await (await second.runs.open("a")).step("send", { idempotent: true }, (context) => void contexts.push(context));

  expect(contexts.map(({ key, attempt }) => [key, attempt])).toEqual([
    ["a:send", 1],
    ["a:send", 2],
  ]);
});

test("step() gives no two steps the same key, whatever they and their runs are called", async () => {
  const { first } = createWorld();
  const keys: string[] = [];
  for (const [id, step] of [
    ["a:b", "c"],
    ["a", "b:c"],
    ["a%3Ab", "c"],
    ["plain", "c"],
  ] as const) {
    await (await first.runs.open(id)).step(step, {}, ({ key }) => void keys.push(key));
  }

  expect(keys).toEqual(["a%3Ab:c", "a:b:c", "a%253Ab:c", "plain:c"]);
});

test("step() whose outcome is recorded never runs again, also elsewhere", async () => {
  const { first, second } = createWorld();
  const run = await first.runs.open("a");
  await run.step("send", {}, () => ({ sent: [1] }));
  const again = await run.step<JsonValue>("send", {}, never);
  await run.close();

  const elsewhere = await (await second.runs.open("a")).step<JsonValue>("send", {}, never);

  expect([again, elsewhere]).toEqual([{ sent: [1] }, { sent: [1] }]);
});

test("step() runs once for all who ask at the same time", async () => {
  const { first } = createWorld();
  const run = await first.runs.open("a");
  let count = 0;

  const outputs = await Promise.all(Array.from({ length: 5 }, () => run.step("send", {}, async () => (count += 1))));

  expect(outputs).toEqual([1, 1, 1, 1, 1]);
});

test("step() of different names run at the same time", async () => {
  const { first } = createWorld();
  const run = await first.runs.open("a");
  const gate = Promise.withResolvers<number>();

  const steps = [run.step("one", {}, () => gate.promise), run.step("two", {}, () => gate.resolve(7))];

  expect(await Promise.all(steps)).toEqual([7, null]);
});

test("step() answers null for work that returns nothing", async () => {
  const { first } = createWorld();
  const run = await first.runs.open("a");

  expect(await run.step("send", {}, () => undefined)).toBeNull();
});

test("step() whose work throws records no outcome; only an idempotent one runs again", async () => {
  const { first } = createWorld();
  const run = await first.runs.open("a");
  const fail = (): never => {
    throw new Error("broken");
  };

  await expect(run.step("send", {}, fail)).rejects.toThrow("broken");
  await expect(run.step("read", { idempotent: true }, fail)).rejects.toThrow("broken");

  await expectCode(run.step("send", {}, never), "step-uncertain");
  expect(await run.step("read", { idempotent: true }, ({ attempt }) => attempt)).toBe(2);
});

test.for<[what: string, output: unknown]>([
  ["NaN", Number.NaN],
  ["a cycle", cycle()],
  ["the key __proto__", JSON.parse('{"__proto__":1}')],
  ["a function", () => 1],
])("step() refuses an output that is %s, and may have happened", async ([, output]) => {
  const { first } = createWorld();
  const run = await first.runs.open("a");

  await expectCode(
    run.step("send", {}, () => output as JsonValue),
    "store-value-invalid",
  );
  expect(run.uncertain()).toEqual(["send"]);
});

test.for(["", "a\0", "\ud83d", "x".repeat(1025), 5])("step() refuses the name %j", async (name) => {
  const { first } = createWorld();
  const run = await first.runs.open("a");

  await expectCode(run.step(name as string, {}, never), "store-key-invalid");
});

test("step() may have any name that can be a key", async () => {
  const { first } = createWorld();
  const run = await first.runs.open("a");

  for (const name of ["__proto__", "constructor", "a:b", "x".repeat(1024)]) {
    expect(await run.step(name, {}, () => name)).toBe(name);
    expect(await run.step<JsonValue>(name, {}, never)).toBe(name);
  }
});

// One row for each moment at which the process may die; the writes of a step are the intent and the outcome.
test.for<
  [when: string, fault: Fault | "in work", idempotent: boolean, effects: number, second: "run" | "park" | "recall"]
>([
  ["before the intent", { after: 0, side: "before", kind: "kill" }, true, 0, "run"],
  ["before the intent", { after: 0, side: "before", kind: "kill" }, false, 0, "run"],
  ["after the intent", { after: 0, side: "after", kind: "kill" }, true, 0, "run"],
  ["after the intent", { after: 0, side: "after", kind: "kill" }, false, 0, "park"],
  ["in the work", "in work", true, 1, "run"],
  ["in the work", "in work", false, 1, "park"],
  ["after the work", { after: 1, side: "before", kind: "kill" }, true, 1, "run"],
  ["after the work", { after: 1, side: "before", kind: "kill" }, false, 1, "park"],
  ["after the outcome", { after: 1, side: "after", kind: "kill" }, true, 1, "recall"],
  ["after the outcome", { after: 1, side: "after", kind: "kill" }, false, 1, "recall"],
])(
  "step() whose process dies %s (case %#) is run, parked or recalled",
  async ([, fault, idempotent, effects, then]) => {
    const { first, second, clock } = createWorld();
    let count = 0;
    const run = await first.runs.open("a");
    if (fault !== "in work") first.setFault(fault);
    void run.step("send", { idempotent }, () => {
      count += 1;
      return fault === "in work" ? new Promise<JsonValue>(() => undefined) : "first";
    });
    await clock.advance(leaseMs / 10);
    first.kill();
    await clock.advance(leaseMs);
    expect(count).toBe(effects);

    const next = await second.runs.open("a");
    const found = await next
      .step<JsonValue>("send", { idempotent }, () => "second")
      .catch((cause: unknown) => (cause as { code: string }).code);

    expect(found).toBe({ run: "second", park: "step-uncertain", recall: "first" }[then]);
    expect(next.uncertain()).toEqual(then === "park" ? ["send"] : []);
  },
);

test("step() that is parked stays parked, and says so in the journal once", async () => {
  const { second } = await interrupted();
  const run = await second.runs.open("a");

  await expectCode(run.step("send", {}, never), "step-uncertain");
  await expectCode(run.step("send", {}, never), "step-uncertain");

  expect((await typesOf(second)).filter((type) => type === "step-review")).toHaveLength(1);
});

test("resolve() with an output makes it the outcome", async () => {
  const { second } = await interrupted();
  const run = await second.runs.open("a");

  await run.resolve("send", { output: "it did happen" });

  expect(await run.step<JsonValue>("send", {}, never)).toBe("it did happen");
  expect(run.uncertain()).toEqual([]);
});

test('resolve() with "again" lets the step run again', async () => {
  const { second } = await interrupted();
  const run = await second.runs.open("a");
  await expectCode(run.step("send", {}, never), "step-uncertain");

  await run.resolve("send", "again");

  expect(await run.step("send", {}, ({ attempt }) => attempt)).toBe(2);
});

test("resolve() refuses a step that is not uncertain", async () => {
  const { first } = createWorld();
  const run = await first.runs.open("a");
  await run.step("done", {}, () => 1);
  const gate = Promise.withResolvers<void>();
  const running = run.step("running", {}, () => gate.promise);

  for (const step of ["done", "running", "unknown"]) {
    await expectCode(run.resolve(step, { output: 2 }), "option-invalid");
  }
  gate.resolve();
  await running;
});

test.for<unknown>([undefined, null, "yes", {}, 5])("resolve() refuses the resolution %j", async (resolution) => {
  const { second } = await interrupted();
  const run = await second.runs.open("a");

  await expectCode(run.resolve("send", resolution as StepResolution), "option-invalid");
  expect(run.uncertain()).toEqual(["send"]);
});

test("step() of a worker that was stopped and taken over starts nothing", async () => {
  const { first, second, clock } = createWorld();
  const zombie = await first.runs.open("a");
  first.pause();
  await clock.advance(leaseMs);
  await second.runs.open("a");
  first.resume();

  await expectCode(zombie.step("send", { idempotent: true }, never), "lease-lost");
  expect(await typesOf(second)).toEqual(["lease-start", "lease-start"]);
});

test("step() of a worker that was stopped when its intent was on disk, and taken over, starts nothing", async () => {
  const { first, second, clock } = createWorld();
  const zombie = await first.runs.open("a");
  first.setFault({ after: 0, side: "after", kind: "pause" });
  const step = zombie.step("send", { idempotent: true }, never);
  const refusal = expectCode(step, "lease-lost");
  await clock.advance(leaseMs);
  await second.runs.open("a");
  first.resume();

  await refusal;
  expect(await typesOf(second)).toEqual(["lease-start", "step-intent", "lease-start"]);
});

test("open() comes behind what the one before writes in the last moment", async () => {
  const { first, second, clock } = createWorld();
  const run = await first.runs.open("a");
  clock.jump(leaseMs);
  // The lease is taken and the journal is read.
  second.setFault({ after: 3, side: "before", kind: "pause" });
  const opening = second.runs.open("a");
  await clock.advance(0);
  await run.append([{ type: "note" }]);
  second.resume();

  expect((await opening).past.map(({ value }) => value.type)).toEqual(["lease-start", "note"]);
  await expectCode(run.append([{ type: "late" }]), "lease-lost");
});

test("step() of a worker that was taken over during its work writes no outcome", async () => {
  const { first, second, clock } = createWorld();
  const zombie = await first.runs.open("a");
  const gate = Promise.withResolvers<void>();
  const refusal = expectCode(
    zombie.step("send", { idempotent: true }, () => first.pass(gate.promise)),
    "lease-lost",
  );
  await clock.advance(0);
  first.pause();
  await clock.advance(leaseMs);
  const next = await second.runs.open("a");
  gate.resolve();
  first.resume();
  await refusal;

  expect(await next.step("send", { idempotent: true }, () => "mine")).toBe("mine");
  expect((await typesOf(second)).filter((type) => type === "step-outcome")).toHaveLength(1);
});

test.for<Fault>([
  { after: 0, side: "before", kind: "away" },
  { after: 0, side: "after", kind: "away" },
  { after: 1, side: "before", kind: "away" },
  { after: 1, side: "after", kind: "away" },
  { after: 0, side: "after", kind: "away", next: { after: 0, side: "before", kind: "away" } },
  { after: 1, side: "after", kind: "away", next: { after: 0, side: "before", kind: "away" } },
])("step() records intent and outcome once although the store was away: %j", async (fault) => {
  const { first, clock } = createWorld();
  const run = await first.runs.open("a");
  let count = 0;
  first.setFault(fault);

  const step = run.step("send", {}, () => (count += 1));
  await clock.advance(leaseMs / 2);

  expect(await step).toBe(1);
  expect(await typesOf(first)).toEqual(["lease-start", "step-intent", "step-outcome"]);
});

test("step() with onSent answers before its outcome is on disk, and runs once also then", async () => {
  const { first } = createWorld();
  const run = await first.runs.open("a");
  const kept: Promise<void>[] = [];
  const onSent = (promise: Promise<void>): void => void kept.push(promise);

  const output = await run.step("send", { onSent }, () => "done");
  const before = await typesOf(first);
  const again = await run.step<JsonValue>("send", { onSent }, never);
  await Promise.all(kept);
  const recalled = await run.step<JsonValue>("send", { onSent }, never);

  expect([output, again, recalled]).toEqual(["done", "done", "done"]);
  expect(before).toEqual(["lease-start", "step-intent"]);
  expect(await typesOf(first)).toEqual(["lease-start", "step-intent", "step-outcome"]);
  expect(kept).toHaveLength(2);
});

test("step() with onSent has its outcome written before the next intent, with it", async () => {
  const { first } = createWorld();
  const run = await first.runs.open("a");
  const onSent = (): void => undefined;

  await run.step("one", { onSent }, () => 1);
  await run.step("two", {}, async () => {
    expect((await typesOf(first)).slice(1)).toEqual(["step-intent", "step-outcome", "step-intent"]);
  });
});

test.for<Fault>([
  { after: 1, side: "before", kind: "away" },
  { after: 1, side: "after", kind: "away" },
  { after: 1, side: "after", kind: "away", next: { after: 0, side: "before", kind: "away" } },
])("step() with onSent records its outcome once although the store was away: %j", async (fault) => {
  const { first, clock } = createWorld();
  const run = await first.runs.open("a");
  const kept: Promise<void>[] = [];
  first.setFault(fault);

  await run.step("send", { onSent: (promise) => void kept.push(promise) }, () => 1);
  await clock.advance(leaseMs / 2);
  await kept[0];
  await run.append([{ type: "note" }]);

  expect(await typesOf(first)).toEqual(["lease-start", "step-intent", "step-outcome", "note"]);
});

test("step() with onSent whose process dies before its outcome is on disk may have happened", async () => {
  const { first, second, clock } = createWorld();
  const run = await first.runs.open("a");
  first.setFault({ after: 1, side: "before", kind: "kill" });
  await run.step("send", { onSent: (kept) => void kept.catch(() => undefined) }, () => 1);
  await clock.advance(leaseMs);

  const next = await second.runs.open("a");

  await expectCode(next.step("send", {}, never), "step-uncertain");
});

test("step() is not started once the signal is aborted", async () => {
  const { first } = createWorld();
  const run = await first.runs.open("a");
  await run.close();

  await expectCode(run.step("send", {}, never), "lease-lost");
});

interface World {
  readonly first: RunProcess;
  readonly second: RunProcess;
  readonly clock: ReturnType<typeof createFakeClock>;
}

function createWorld(): World {
  const clock = createFakeClock();
  const store = memoryStore({ now: clock.now });
  const [first, second] = ["first", "second"].map((worker) => createRunProcess({ store, clock, worker, leaseMs }));
  return { first: first!, second: second!, clock };
}

/** A world in which the first process died in the middle of the step "send" of the run "a". */
async function interrupted(): Promise<World> {
  const world = createWorld();
  void (await world.first.runs.open("a")).step("send", {}, () => new Promise<void>(() => undefined));
  await world.clock.advance(0);
  world.first.kill();
  await world.clock.advance(leaseMs);
  return world;
}

function never(): never {
  throw new Error("the work was started");
}

function cycle(): object {
  const object: Record<string, unknown> = {};
  object["self"] = object;
  return object;
}

async function typesOf({ runs }: RunProcess): Promise<string[]> {
  return (await runs.read("a")).map(({ value }) => value.type);
}

async function expectCode(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  await expect(promise).rejects.toMatchObject({ code });
}
