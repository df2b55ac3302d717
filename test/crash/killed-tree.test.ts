import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import type { RunResult } from "../../src/agent/run-result.ts";
import type { Store } from "../../src/core/store.ts";
import { createRuns } from "../../src/records/runs/create-runs.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { openCrashStore } from "./crash-store.ts";
import { startCrashProgram } from "./start-crash-program.ts";
import { allEffects, createThreeAgents, leaseMs, treeRun } from "./three-agents.ts";
import { readEffects } from "./three-steps.ts";

/** Every so manieth moment is one at which the process is killed, and in CI each: a kill takes seconds. */
const everyMoment = process.env["KITBAG_EVERY_KILL"] === "1" ? 1 : 9;

test(
  "a tree of three agents whose process is killed twice, at any moments, goes on: nothing twice, nothing lost",
  { timeout: 600_000 },
  async () => {
    const total = await countMoments();
    const points = Array.from({ length: total }, (_, index) => index + 1).filter((one) => one % everyMoment === 0);

    const found: Found[] = [];
    for (const point of points) found.push(await killTwice(point, 1 + ((point * 7) % total)));

    const told = found.filter(({ uncertain }) => uncertain > 0).length;
    console.log(`${2 * points.length} kills: ${told} times a model was told that a call may have happened`);
    expect(total).toBeGreaterThan(100);
    for (const one of found) expect(one).toEqual({ ...one, ...asItMustBe });
  },
);

const asItMustBe = {
  status: "ok",
  text: "Done",
  lost: [],
  /** Sent twice, or done again although it had finished. */
  doubled: [],
  /** Journals, each of which has ended and holds one outcome for each of its calls. */
  runs: [treeRun, `${treeRun}~1.0`, `${treeRun}~1.0~2.0`, `${treeRun}~1.1`, `${treeRun}~1.1~2.0`],
  outcomesTwice: [],
  replay: "same",
  isCounted: true,
};

interface Found {
  readonly killedAt: readonly number[];
  readonly uncertain: number;
}

async function killTwice(first: number, second: number): Promise<Found> {
  const folder = createFolder();
  const file = { file: join(folder, "kitbag.db") };
  const effects = join(folder, "effects.txt");
  const finished: string[] = [];
  const doubled: string[] = [];
  for (const [dieAfter, isResumed] of [
    [first, false],
    [second, true],
  ] as const) {
    const before = readEffects(effects).length;
    await startCrashProgram("run-tree.ts", [JSON.stringify({ store: file, effects, dieAfter, isResumed })]).gone;
    doubled.push(...doneAgain(effects, before, finished));
    finished.push(...(await finishedIn(file)));
  }
  const store = await openCrashStore(file);
  onTestFinished(() => store.close());
  const before = readEffects(effects).length;
  const result = await finish(store, effects);
  doubled.push(...doneAgain(effects, before, finished));
  const uncertain = await countUncertain(store);
  const found = { killedAt: [first, second], uncertain, doubled, ...(await inspect(store, effects, result)) };
  await store.close();
  return found;
}

/** What was done since although it had finished, or was sent before. */
function doneAgain(effects: string, before: number, finished: readonly string[]): readonly string[] {
  const made = readEffects(effects);
  return made
    .slice(before)
    .filter((line) => finished.includes(line) || (line.startsWith("send") && made.slice(0, before).includes(line)));
}

/** What the calls have done whose outcomes are in a journal. */
async function finishedIn(file: { readonly file: string }): Promise<readonly string[]> {
  const store = await openCrashStore(file);
  const lines = await readLines(store);
  await store.close();
  return lines.flatMap(({ value }) => {
    const { status, output } = (value["output"] ?? {}) as { readonly status?: string; readonly output?: unknown };
    return value.type === "step-outcome" && status === "ok" && typeof output === "string" ? [output] : [];
  });
}

async function inspect(store: Store, effects: string, result: RunResult): Promise<object> {
  const lines = await readLines(store);
  const outcomes = lines.flatMap(({ run, value }) =>
    value.type === "step-outcome" ? [`${run} ${String(value["step"])}`] : [],
  );
  const answers = lines.filter(({ value }) => value.type === "model-answer").length;
  const agent = createThreeAgents(store, effects);
  const done = new Set(readEffects(effects));
  const runs = await createRuns({ store }).list();
  return {
    status: result.status,
    text: result.text,
    lost: findLost(
      allEffects.filter((line) => !done.has(line)),
      lines,
    ),
    runs: runs.filter(({ status }) => status === "ok").map(({ id }) => id),
    outcomesTwice: outcomes.filter((one, index) => outcomes.indexOf(one) !== index),
    replay: (await agent.replay(treeRun)).status,
    // Every answer of every journal, at $0.001 each.
    isCounted: result.usage.modelCalls === answers && Math.abs((result.cost ?? 0) - answers / 1000) < 1e-9,
  };
}

/** What was not done, unless the model was told of as many calls that it is not known whether they happened. */
function findLost(missing: readonly string[], lines: readonly Line[]): readonly string[] {
  const uncertain = lines.filter(({ value }) => value.type === "step-outcome" && isUncertain(value["output"])).length;
  return missing.every((line) => line.startsWith("send")) && missing.length <= uncertain ? [] : missing;
}

function isUncertain(output: unknown): boolean {
  return (output as { readonly error?: { readonly code?: unknown } }).error?.code === "call-uncertain";
}

/** As a person does who starts the program again, and approves what waits. */
async function finish(store: Store, effects: string): Promise<RunResult> {
  const agent = createThreeAgents(store, effects);
  for (;;) {
    const result = await agent.resume(treeRun).result;
    const code = result.error?.code;
    // Killed before its first line: nothing was acknowledged, and it is started as if it had never been.
    if (code === "run-not-found") await agent.run("Go", { id: treeRun }).result;
    else if (code === "run-ended") return endOf(store);
    else if (result.status === "paused") {
      for (const approval of result.approvals) await agent.decide(approval, { decision: "approve" });
    } else if (code === "run-leased" || result.status === "stopped") await setTimeout(leaseMs / 5);
    else return result;
  }
}

async function endOf(store: Store): Promise<RunResult> {
  const last = (await createRuns({ store }).read(treeRun, { limit: 10_000 })).at(-1)?.value;
  const { output } = (last as unknown as { readonly outcome: { readonly output: object } }).outcome;
  return { status: "ok", ...output } as RunResult;
}

interface Line {
  readonly run: string;
  readonly value: { readonly type: string; readonly [key: string]: unknown };
}

/** The lines of all journals of the tree. */
async function readLines(store: Store): Promise<readonly Line[]> {
  const runs = createRuns({ store });
  const all = await runs.list();
  const read = await Promise.all(all.map(async ({ id }) => ({ id, entries: await runs.read(id, { limit: 10_000 }) })));
  return read.flatMap(({ id, entries }) => entries.map(({ value }) => ({ run: id, value })));
}

async function countUncertain(store: Store): Promise<number> {
  return JSON.stringify(await readLines(store)).split("call-uncertain").length - 1;
}

async function countMoments(): Promise<number> {
  const folder = createFolder();
  const store = { file: join(folder, "kitbag.db") };
  const told = { store, effects: join(folder, "effects.txt"), dieAfter: 0, isResumed: false };
  const line = await startCrashProgram("run-tree.ts", [JSON.stringify(told)]).waitFor("ok after");
  return Number(/\d+/u.exec(line)?.[0]);
}
