import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { expect, onTestFinished, test, type TestContext } from "vitest";

import type { Store } from "../../src/core/store.ts";
import { createRuns, type Runs } from "../../src/records/runs/create-runs.ts";
import type { RunEntry, RunEvent } from "../../src/records/runs/run-records.ts";
import { sharePostgres } from "../support/postgres.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { openCrashStore, type CrashStore } from "./crash-store.ts";
import { startCrashProgram, type CrashProgram } from "./start-crash-program.ts";
import { readEffects, threeSteps, type WorkerProgram } from "./three-steps.ts";

const leaseMs = 2000;
const getPostgres = sharePostgres();
const drivers = ["SQLite", "Postgres"] as const;

test.for(drivers)(
  "the run of a killed worker is taken over within its lease and 2 s on %s",
  { timeout: 60_000 },
  async (driver, context) => {
    const world = await createWorld(driver, context);
    const { runs, effects } = world;
    const worker = await startWorker(world, { workMs: 60_000 });
    await runs.add("a");
    await worker.waitFor("step two");
    world.work();
    await setTimeout(leaseMs);

    worker.signal("SIGKILL");
    const killedAt = Date.now();
    const journal = await waitForEnd(runs);

    const takenAt =
      journal.find(({ value }) => value.type === "lease-start" && value["worker"] === "second")?.time ?? 0;
    console.log(`${driver}: taken over ${takenAt - killedAt} ms after the kill, with a lease of ${leaseMs} ms`);
    expect(takenAt - killedAt).toBeLessThanOrEqual(leaseMs + 2000);
    expect(journal.at(-1)?.value).toMatchObject({ outcome: { output: ["first", "second", "second"] } });
    expect(readEffects(effects)).toEqual(["first a:one", "first a:two", "second a:two", "second a:three"]);
  },
);

test.for(drivers)(
  "a worker that was stopped beyond its lease writes nothing and starts nothing on %s",
  { timeout: 60_000 },
  async (driver, context) => {
    const world = await createWorld(driver, context);
    const { runs, effects } = world;
    const zombie = await startWorker(world, { workMs: 300 });
    await runs.add("a");
    await zombie.waitFor("step two");
    zombie.signal("SIGSTOP");
    world.work();
    const before = await waitForEnd(runs);

    zombie.signal("SIGCONT");
    const refusal = await zombie.waitFor("failed");
    // Time enough for whatever it might still do.
    await setTimeout(leaseMs);

    expect(refusal).toBe("failed lease-lost");
    expect(await runs.read("a")).toEqual(before);
    expect(readEffects(effects)).toEqual(["first a:one", "first a:two", "second a:two", "second a:three"]);
    expect(before.at(-1)?.value).toMatchObject({ outcome: { output: ["first", "second", "second"] } });
  },
);

const kinds = drivers.flatMap((driver) => [true, false].map((idempotent) => ({ driver, idempotent })));

test.for(kinds)(
  "a worker that dies anywhere in a step with idempotent: $idempotent leaves it as it must be on $driver",
  { timeout: 120_000 },
  async ({ driver, idempotent }, context) => {
    const points = ["before intent", "after intent", "after effect", "after outcome"] as const;

    const found = await Promise.all(
      points.map(async (dieAt) => {
        const world = await createWorld(driver, context);
        const worker = await startWorker(world, { dieAt, idempotent });
        await world.runs.add("a");
        await worker.gone;
        world.work({ idempotent });
        const journal = await waitFor(world.runs, ({ type, reason }) => type === "run-end" || reason === "review");
        const outcomes = journal.filter(({ value }) => value.type === "step-outcome");
        return {
          dieAt,
          effects: readEffects(world.effects).join(),
          outcomes: outcomes.map(({ value }) => value["step"]),
        };
      }),
    );

    const all = ["one", "two", "three"];
    const again = "second a:two,second a:three";
    expect(found).toEqual([
      { dieAt: "before intent", effects: `first a:one,${again}`, outcomes: all },
      idempotent
        ? { dieAt: "after intent", effects: `first a:one,${again}`, outcomes: all }
        : { dieAt: "after intent", effects: "first a:one", outcomes: ["one"] },
      idempotent
        ? { dieAt: "after effect", effects: `first a:one,first a:two,${again}`, outcomes: all }
        : { dieAt: "after effect", effects: "first a:one,first a:two", outcomes: ["one"] },
      { dieAt: "after outcome", effects: "first a:one,first a:two,second a:three", outcomes: all },
    ]);
  },
);

interface World {
  readonly store: CrashStore;
  readonly runs: Runs;
  readonly effects: string;
  /** Starts the worker "second", in this process. */
  work(options?: { readonly idempotent: boolean }): void;
}

async function createWorld(driver: (typeof drivers)[number], context: TestContext): Promise<World> {
  const folder = createFolder();
  const effects = join(folder, "effects");
  const crashStore: CrashStore =
    driver === "SQLite"
      ? { file: join(folder, "kitbag.db") }
      : { url: (await getPostgres(context)).url, schema: `kitbag_${randomUUID().replaceAll("-", "")}` };
  const store: Store = await openCrashStore(crashStore);
  const runs = createRuns({ store, worker: "second", leaseMs });
  let stop = async (): Promise<void> => undefined;
  onTestFinished(async () => {
    await stop();
    await store.close();
  });
  return {
    store: crashStore,
    runs,
    effects,
    work({ idempotent } = { idempotent: true }) {
      ({ stop } = runs.work(threeSteps({ worker: "second", effects, idempotent, workMs: 0 })));
    },
  };
}

async function startWorker(world: World, options: Partial<WorkerProgram>): Promise<CrashProgram> {
  const { store, effects } = world;
  const program: WorkerProgram = { store, worker: "first", leaseMs, effects, idempotent: true, workMs: 0, ...options };
  const worker = startCrashProgram("work-on-runs.ts", [JSON.stringify(program)]);
  await worker.waitFor("ready");
  return worker;
}

/** Waits until the run "a" has ended, and answers with its journal. */
function waitForEnd(runs: Runs): Promise<readonly RunEntry[]> {
  return waitFor(runs, ({ type }) => type === "run-end");
}

async function waitFor(runs: Runs, isLast: (event: RunEvent) => boolean): Promise<readonly RunEntry[]> {
  for await (const { value } of runs.tail("a")) if (isLast(value)) break;
  return runs.read("a");
}
