/**
 * Measures the memory of agents for `agent-memory.ts`, which starts it with room enough that nothing is collected meanwhile. Prints one
 * number.
 */
import { getHeapStatistics } from "node:v8";

import { createWorkspace, defineTool, type Store } from "kitbag";
import { createAgent, type Agent } from "kitbag/agent";

import { benchModel, callSteps } from "./agent-models.ts";
import { addSchema, piRun, plainLoad, streamTextRun } from "./agent-peers.ts";
import { openStoreFile } from "./store-file.ts";

const longSteps = 200;

const measurements: Readonly<Record<string, () => Promise<number>>> = {
  kitbag: async () => bytesOf(await kitbagRun()),
  pi: async () => bytesOf(await piRun(plainLoad(1))),
  ai: () => bytesOf(streamTextRun(plainLoad(1))),
  many: async () => (await runMany()).done,
  "many-heap": async () => (await runMany()).megabytes,
  "long-cpu": () => compareSteps(() => cpuNow()),
  "long-heap": () => compareSteps(() => heapNow()),
  outlive: async () => shareThatOutlives(await kitbagRun()),
  "outlive-kept": async () => shareThatOutlives(await kitbagRun((await openStoreFile()).store)),
};

const measure = measurements[process.argv[2] ?? ""];
if (measure === undefined) throw new Error(`Cannot measure "${process.argv[2]}"`);
console.log(await measure());

/** Kilobytes of heap that a run allocates. */
async function bytesOf(run: () => Promise<void>): Promise<number> {
  const runs = 20;
  for (let index = 0; index < 200; index++) await run();
  collect();
  const before = heapNow();
  for (let index = 0; index < runs; index++) await run();
  return (heapNow() - before) / runs / 1000;
}

/** How much of what finished runs have allocated, in percent, two collections of the young leave: nobody needs it. */
async function shareThatOutlives(run: () => Promise<void>): Promise<number> {
  for (let index = 0; index < 200; index++) await run();
  collect();
  const before = heapNow();
  for (let index = 0; index < 200; index++) await run();
  const allocated = heapNow() - before;
  for (let index = 0; index < 2; index++) collect("minor");
  return (100 * (heapNow() - before)) / allocated;
}

async function kitbagRun(store?: Store): Promise<() => Promise<void>> {
  const agent = createBenchAgent(callSteps, undefined, store);
  return async () => {
    const { text } = await agent.run("Add");
    if (text !== "done") throw new Error("Kitbag did something else");
  };
}

async function runMany(): Promise<{ readonly done: number; readonly megabytes: number }> {
  const agent = createBenchAgent(callSteps);
  await agent.run("Add");
  collect();
  const before = heapNow();
  const results = await Promise.all(Array.from({ length: 1000 }, () => agent.run("Add")));
  const done = results.filter(({ text, usage }) => text === "done" && usage.toolCalls === callSteps).length;
  collect();
  return { done, megabytes: (heapNow() - before) / 1e6 };
}

/** What a late step of a long run takes to what an early one does, as `read` says it. */
async function compareSteps(read: () => number): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < 20; round++) {
    const marks = new Map<number, number>();
    const agent = createBenchAgent(longSteps, (step) => marks.set(step, read()));
    collect();
    const { text, steps } = await agent.run("Add", { limits: { maxSteps: 500 } });
    if (text !== "done" || steps !== longSteps + 1) throw new Error(`Kitbag did something else: ${text}`);
    const between = (from: number, to: number): number => (marks.get(to) ?? NaN) - (marks.get(from) ?? NaN);
    // The first runs are those in which everything is compiled.
    if (round >= 5) ratios.push(between(150, 200) / between(10, 60));
  }
  return ratios.toSorted((left, right) => left - right)[Math.floor(ratios.length / 2)] ?? NaN;
}

function createBenchAgent(steps: number, onStep?: (step: number) => void, store?: Store): Agent {
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: addSchema,
    run: ({ a, b }) => Number(a) + Number(b),
  });
  const model = benchModel(steps);
  const hooks = onStep && { onStepStart: ({ step }: { readonly step: number }) => onStep(step) };
  const workspace = createWorkspace({ tools: [add] });
  return createAgent({ model, workspace, ...(hooks && { hooks }), ...(store && { store }) });
}

function collect(type: "major" | "minor" = "major"): void {
  if (globalThis.gc === undefined) throw new Error("Cannot measure: start it with --expose-gc");
  globalThis.gc({ type, execution: "sync" });
}

function heapNow(): number {
  return getHeapStatistics().used_heap_size;
}

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
