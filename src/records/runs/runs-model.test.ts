import fc from "fast-check";
import { expect, test } from "vitest";

import { createFakeClock, settled, type FakeClock } from "../../../test/support/fake-clock.ts";
import type { Fault, RunProcess } from "../../../test/support/run-process.ts";
import {
  appendNote,
  createRunWorld,
  findViolations,
  handlerOf,
  runStep,
  runStepAhead,
  startProcess,
  worldLeaseMs,
  type RunWorld,
  type StepName,
} from "../../../test/support/run-world.ts";
import { isKitbagError, type ErrorCode } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { Run } from "./run.ts";

test("runs survive processes that die, pause, wake too late or lose the store, and clocks that jump", async () => {
  await fc.assert(
    worldProperty((clock) => memoryStore({ now: clock.now })),
    { numRuns: 400 },
  );
});

test("the test above finds a store whose journal can be written to by anybody", async () => {
  const result = await fc.check(worldProperty(unfenced), { numRuns: 400 });

  expect(result.failed).toBe(true);
});

test("runs survive any order in which what three processes send and are told arrives", async () => {
  await fc.assert(
    orderProperty((clock) => memoryStore({ now: clock.now })),
    { numRuns: 300 },
  );
});

test("the test above finds a store whose journal can be written to by anybody, too", async () => {
  const result = await fc.check(orderProperty(unfenced), { numRuns: 300 });

  expect(result.failed).toBe(true);
});

/** A store without the check that everything here relies on. */
function unfenced(clock: FakeClock): Store {
  const store = memoryStore({ now: clock.now });
  const append: Store["log"]["append"] = (stream, values) => store.log.append(stream, values);
  return { ...store, log: { ...store.log, append } };
}

type Command = fc.AsyncCommand<object, RunWorld>;

/** What may go wrong with a call, because others are faster or because of what the test does to the processes. */
const foreseen: readonly ErrorCode[] = [
  "lease-lost",
  "run-ended",
  "run-leased",
  "step-uncertain",
  "store-conflict",
  "store-unavailable",
];

/** Any commands, then a healthy worker: nothing that is forbidden happened, and each run that was added has one end. */
function worldProperty(createStore: (clock: FakeClock) => Store): fc.IAsyncProperty<[Iterable<Command>]> {
  return fc.asyncProperty(fc.commands(commands(), { maxCommands: 40, size: "max" }), async (sequence) => {
    const clock = createFakeClock();
    const world = createRunWorld(createStore(clock), clock);
    await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence);
    await bringToAnEnd(world);
  });
}

async function bringToAnEnd(world: RunWorld): Promise<void> {
  for (const index of world.processes.keys()) startProcess(world, index);
  for (const process of world.processes) process.runs.work(handlerOf(world, process, 0), { maxAttempts: 100 });
  for (let second = 0; second < 60 && !(await haveEnded(world)); second++) await world.clock.advance(1000);

  expect(await findViolations(world)).toEqual([]);
  expect(await haveEnded(world)).toBe(true);
}

/** Whether each run that was acknowledged has ended; `findViolations` says whether one did so twice. */
async function haveEnded({ store, added }: RunWorld): Promise<boolean> {
  const journals = await Promise.all([...added].map((runId) => store.log.read(`run:${runId}`)));
  return journals.every((entries) => (entries.at(-1)?.value as { type?: string } | undefined)?.type === "run-end");
}

function commands(): fc.Arbitrary<Command>[] {
  const process = fc.nat(2);
  const runId = fc.constantFrom("a", "b");
  const name = fc.constantFrom<StepName[]>("read", "pay");
  const workMs = fc.constantFrom(0, 0, 50, worldLeaseMs * 1.5);
  const fault = fc.record<Fault>({
    after: fc.nat(4),
    side: fc.constantFrom("before", "after"),
    kind: fc.constantFrom("away", "pause", "kill"),
  });
  return [
    fc.tuple(process, runId).map(toAdd),
    fc.tuple(process, runId).map(toOpen),
    fc.tuple(process, runId).map(toOpen),
    fc.tuple(process, runId).map(([index, id]) => onRun("append", index, id, (world, run) => appendNote(world, run))),
    fc
      .tuple(process, runId, name, workMs)
      .map(([index, id, step, ms]) =>
        onRun(`step ${step} ${ms}`, index, id, (world, run, process) => runStep({ world, process, run }, step, ms)),
      ),
    fc
      .tuple(process, runId, name, workMs)
      .map(([index, id, step, ms]) =>
        onRun(`ahead ${step} ${ms}`, index, id, (world, run, process) =>
          runStepAhead({ world, process, run }, step, ms),
        ),
      ),
    fc.tuple(process, runId).map(([index, id]) => onRun("close", index, id, (_, run) => run.close())),
    fc
      .tuple(process, runId)
      .map(([index, id]) => onRun("end", index, id, (_, run) => run.end({ status: "ok", output: 1 }))),
    fc.tuple(process, workMs).map(toWork),
    process.map((index) => toCommand(`kill ${index}`, async (world) => startProcess(world, index))),
    process.map((index) => toCommand(`pause ${index}`, async (world) => world.processes[index]?.pause())),
    process.map((index) => toCommand(`resume ${index}`, async (world) => world.processes[index]?.resume())),
    fc
      .tuple(process, fault)
      .map(([index, fault]) =>
        toCommand(`fault ${index} ${JSON.stringify(fault)}`, async (world) => world.processes[index]?.setFault(fault)),
      ),
    fc
      .constantFrom(1, worldLeaseMs / 3, worldLeaseMs / 2, worldLeaseMs + 1, worldLeaseMs * 3)
      .map((ms) => toCommand(`advance ${ms}`, (world) => world.clock.advance(ms))),
    fc.constantFrom(-3_600_000, 3_600_000).map((ms) => toCommand(`jump ${ms}`, async (world) => world.clock.jump(ms))),
  ];
}

function toCommand(name: string, act: (world: RunWorld) => Promise<unknown>): Command {
  return {
    check: () => true,
    async run(_model, world) {
      await act(world);
      expect(await findViolations(world)).toEqual([]);
    },
    toString: () => name,
  };
}

function toAdd([index, runId]: [number, string]): Command {
  return toCommand(`add ${index} ${runId}`, async (world) => {
    start(
      world,
      async (process) => {
        await process.runs.add(runId);
        world.added.add(runId);
      },
      index,
    );
  });
}

function toOpen([index, runId]: [number, string]): Command {
  return toCommand(`open ${index} ${runId}`, async (world) => {
    start(
      world,
      async (process) => {
        const run = await process.runs.open(runId);
        world.opened.set(process, (world.opened.get(process) ?? new Map<string, Run>()).set(runId, run));
      },
      index,
    );
  });
}

function toWork([index, workMs]: [number, number]): Command {
  return toCommand(`work ${index} ${workMs}`, async (world) => {
    const process = world.processes[index]!;
    process.runs.work(handlerOf(world, process, workMs), { maxAttempts: 100 });
  });
}

type Act = (world: RunWorld, run: Run, process: RunProcess) => Promise<unknown>;

function onRun(what: string, index: number, runId: string, act: Act): Command {
  return toCommand(`${what} ${index} ${runId}`, async (world) => {
    start(
      world,
      async (process) => {
        const run = world.opened.get(process)?.get(runId);
        if (run) await act(world, run, process);
      },
      index,
    );
  });
}

/** Starts something in a process that may never come to an end. */
function start(world: RunWorld, act: (process: RunProcess) => Promise<unknown>, index: number): void {
  const process = world.processes[index]!;
  act(process).catch((cause: unknown) => {
    if (!foreseen.some((code) => isKitbagError(cause, code))) world.violations.push(`unforeseen: ${String(cause)}`);
  });
}

/** Three processes, one run, and leases that are over all the time: what they send and are told arrives in any order. */
function orderProperty(createStore: (clock: FakeClock) => Store): fc.IAsyncProperty<[fc.Scheduler]> {
  return fc.asyncProperty(fc.scheduler(), async (scheduler) => {
    const clock = createFakeClock();
    const world = createRunWorld(createStore(clock), clock, (store) => scheduled(store, scheduler));
    const working = new Set(world.processes);
    for (const process of working) void workInRounds(world, process).then(() => working.delete(process));
    while (working.size > 0) {
      await settled();
      if (scheduler.count() > 0) await scheduler.waitNext(1);
      else await clock.advance(worldLeaseMs / 20);
      // Each lease is over before the next answer arrives.
      clock.jump(worldLeaseMs + 1);
    }

    expect(await findViolations(world)).toEqual([]);
  });
}

async function workInRounds(world: RunWorld, process: RunProcess): Promise<void> {
  for (let round = 0; round < 2; round++) {
    try {
      const run = await process.runs.open("a");
      // One that was taken over right after its intent may still start a step that may run twice, so the others are tried.
      const runPay = round === 0 ? runStep : runStepAhead;
      await Promise.all([appendNote(world, run), runPay({ world, process, run }, "pay", 0), appendNote(world, run)]);
      await run.close();
    } catch (cause) {
      if (!foreseen.some((code) => isKitbagError(cause, code))) world.violations.push(`unforeseen: ${String(cause)}`);
    }
  }
}

/** The store, as one process reaches it: what it sends arrives in order, what others send comes anywhere in between. */
function scheduled(store: Store, scheduler: fc.Scheduler): Store {
  const { kv, log } = store;
  let arrived: Promise<unknown> = Promise.resolve();

  async function send<Answer>(operation: () => Promise<Answer>): Promise<Answer> {
    const before = arrived;
    const arrival = Promise.withResolvers<void>();
    arrived = arrival.promise;
    await before;
    await scheduler.schedule(Promise.resolve());
    const answer = operation();
    arrival.resolve();
    await answer.catch(() => undefined);
    await scheduler.schedule(Promise.resolve());
    return answer;
  }

  return {
    ...store,
    kv: {
      ...kv,
      get: (...args) => send(() => kv.get(...args)),
      set: (...args) => send(() => kv.set(...args)),
      delete: (...args) => send(() => kv.delete(...args)),
    },
    log: {
      ...log,
      append: (...args) => send(() => log.append(...args)),
      read: (...args) => send(() => log.read(...args)),
    },
  };
}
