import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import type { RunResult } from "../../src/agent/run-result.ts";
import type { Store } from "../../src/core/store.ts";
import { createRuns } from "../../src/records/runs/create-runs.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { openCrashStore } from "./crash-store.ts";
import { startCrashProgram } from "./start-crash-program.ts";
import { createTenStepAgent, leaseMs } from "./ten-steps.ts";
import { readEffects } from "./three-steps.ts";

/** The run is killed after every third event, and in CI after each: a kill takes seconds. */
const everyPoint = process.env["KITBAG_EVERY_KILL"] === "1" ? 1 : 3;

test.for([
  ["after any of its events", true, 90],
  ["at any moment while nobody hears of it", false, 30],
] as const)(
  "a run of ten steps that is killed %s goes on: no finished call again, one in flight only if it may be",
  { timeout: 600_000 },
  async ([, isHeard, atLeast]) => {
    const total = await countMoments(isHeard);
    const points = Array.from({ length: total }, (_, index) => index + 1).filter((point) => point % everyPoint === 0);

    const found = await inParallel(points, 4, (point) => killAndResume(point, isHeard));

    const again = found.filter(({ repeated }) => repeated.length > 0).length;
    const told = found.filter(({ uncertain }) => uncertain > 0).length;
    console.log(
      `${points.length} kills: ${again} times a call in flight was made again, ${told} times the model was told that one may have happened`,
    );
    expect(total).toBeGreaterThan(atLeast);
    expect(again).toBeGreaterThan(0);
    expect(told).toBeGreaterThan(0);
    for (const one of found) expect(one).toEqual({ ...one, ...asItMustBe });
  },
);

const asItMustBe = {
  status: "ok",
  text: "Done",
  /** Every call has one outcome in the journal. */
  outcomes: ["1.0", "2.0", "3.0", "4.0", "5.0", "6.0", "7.0", "8.0", "9.0", "10.0", "10.1"].toSorted(),
  wronglyRepeated: [],
};

interface Found {
  readonly killedAfter: number;
  readonly status: string;
  readonly text: string;
  readonly outcomes: readonly string[];
  /** Calls that were made twice, of those that may be. */
  readonly repeated: readonly string[];
  /** Calls that were made again although they had finished, or must not be made twice. */
  readonly wronglyRepeated: readonly string[];
  /** How many calls the model was told may have happened. */
  readonly uncertain: number;
}

async function killAndResume(killedAfter: number, isHeard: boolean): Promise<Found> {
  const folder = createFolder();
  const store = { file: join(folder, "kitbag.db") };
  const effects = join(folder, "effects.txt");
  const program = startCrashProgram("run-agent.ts", [
    JSON.stringify({ store, run: "a", effects, dieAfter: killedAfter, isHeard }),
  ]);
  await program.gone;
  const opened = await openCrashStore(store);
  onTestFinished(() => opened.close());
  const finished = (await readTypes(opened, "step-outcome")).toSorted();
  const before = readEffects(effects).length;
  const result = await resume(opened, effects);
  const made = readEffects(effects);
  const twice = made.filter((line, index) => index >= before && made.slice(0, before).includes(line));
  const wronglyRepeated = twice.filter((line) => line.startsWith("send") || finished.some((name) => isOf(name, line)));
  const outcomes = (await readTypes(opened, "step-outcome")).toSorted();
  const uncertain = JSON.stringify(result.messages).split("may have").length - 1;
  await opened.close();
  return {
    killedAfter,
    status: result.status,
    text: result.text,
    outcomes,
    repeated: twice,
    wronglyRepeated,
    uncertain,
  };
}

/** Whether a line of the effects is of the step that a name in the journal means. */
function isOf(name: string, line: string): boolean {
  const [step, call] = name.split(".");
  return line.endsWith(` ${step}`) && (step !== "10" || line.startsWith(call === "0" ? "send" : "look"));
}

/** As somebody does who starts the program again: until the lease of the dead one is over, it is told to wait. */
async function resume(store: Store, effects: string): Promise<RunResult> {
  for (;;) {
    const { agent } = createTenStepAgent(store, effects);
    const result = await agent.resume("a").result;
    if (result.error?.code === "run-ended") return endOf(store, result);
    // Killed before its first line was written: nothing was acknowledged, and it is started as if it had never been.
    if (result.error?.code === "run-not-found") return agent.run("Take ten steps", { id: "b" }).result;
    // On a machine that is very busy a lease of this length may end before it is renewed: a run that was stopped is resumed.
    if (result.error?.code !== "run-leased" && result.status !== "stopped") return result;
    await setTimeout(leaseMs / 5);
  }
}

async function endOf(store: Store, result: RunResult): Promise<RunResult> {
  const last = (await createRuns({ store }).read("a", { limit: 1000 })).at(-1);
  expect(last?.value).toMatchObject({ type: "run-end", outcome: { status: "ok", output: { text: "Done" } } });
  return { ...result, status: "ok", text: "Done" } as RunResult;
}

async function readTypes(store: Store, type: string): Promise<readonly string[]> {
  const runs = createRuns({ store });
  const entries = [...(await runs.read("a", { limit: 1000 })), ...(await runs.read("b", { limit: 1000 }))];
  return entries.flatMap(({ value }) => (value.type === type ? [String(value["step"])] : []));
}

async function countMoments(isHeard: boolean): Promise<number> {
  const folder = createFolder();
  const store = { file: join(folder, "kitbag.db") };
  const program = startCrashProgram("run-agent.ts", [
    JSON.stringify({ store, run: "a", effects: join(folder, "effects.txt"), dieAfter: 0, isHeard }),
  ]);
  const line = await program.waitFor("ok after");
  return Number(/\d+/u.exec(line)?.[0]);
}

async function inParallel<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const waiting = [...items.entries()];
  const one = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return results;
}
