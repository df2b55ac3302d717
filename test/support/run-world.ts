import { isKitbagError } from "../../src/core/errors.ts";
import type { JsonValue } from "../../src/core/json.ts";
import type { Store } from "../../src/core/store.ts";
import { readAll } from "../../src/records/runs/run-journal.ts";
import { type RunRecord, toRecord, toStream } from "../../src/records/runs/run-records.ts";
import type { Run, RunHandler, StepOptions } from "../../src/records/runs/run.ts";
import { type FakeClock, settled } from "./fake-clock.ts";
import { createRunProcess, type RunProcess } from "./run-process.ts";

/** How long a lease of this world lasts. */
export const worldLeaseMs = 1000;

/** A step of this world: of each name there is one that may be repeated and one that must not. */
export type StepName = "read" | "pay";

/** Something that was done outside, and that nobody can take back. */
interface Effect {
  readonly runId: string;
  readonly step: StepName;
  readonly attempt: number;
}

/** Processes on one store, what they did outside, and what they were told. */
export interface RunWorld {
  readonly store: Store;
  readonly reach: Reach;
  readonly clock: FakeClock;
  readonly processes: RunProcess[];
  /** What each process has opened. */
  readonly opened: Map<RunProcess, Map<string, Run>>;
  /** The runs that were acknowledged. */
  readonly added: Set<string>;
  readonly effects: Effect[];
  /** What was acknowledged: numbers of notes, by run, in the order in which they were sent. */
  readonly notes: Map<string, number[]>;
  /** When, in time that passed, each lease was taken, by run and epoch. */
  readonly takenAt: Map<string, number>;
  /** What must not happen, and did. */
  readonly violations: string[];
  noteCount: number;
}

/** How a process reaches the store. */
export type Reach = (store: Store) => Store;

/** Makes a world of three processes in which nothing has happened, on a store that goes by `clock`. */
export function createRunWorld(store: Store, clock: FakeClock, reach: Reach = (store) => store): RunWorld {
  const takenAt = new Map<string, number>();
  const world: RunWorld = {
    store: noteLeases(store, takenAt, clock),
    reach,
    clock,
    processes: [],
    opened: new Map(),
    added: new Set(),
    effects: [],
    notes: new Map(),
    takenAt,
    violations: [],
    noteCount: 0,
  };
  for (let index = 0; index < 3; index++) startProcess(world, index);
  return world;
}

function noteLeases(store: Store, takenAt: Map<string, number>, clock: FakeClock): Store {
  const append: Store["log"]["append"] = async (stream, values, options) => {
    const position = await store.log.append(stream, values, options);
    const record = toRecord(values[0] ?? null);
    if (record?.type === "lease-start") takenAt.set(`${stream.slice("run:".length)} ${record.epoch}`, clock.elapsed());
    return position;
  };
  return { ...store, log: { ...store.log, append } };
}

/** Starts a process in the place of another one. */
export function startProcess(world: RunWorld, index: number): void {
  const { clock } = world;
  const store = world.reach(world.store);
  world.processes[index]?.kill();
  world.processes[index] = createRunProcess({ store, clock, worker: `process-${index}`, leaseMs: worldLeaseMs });
}

/** Where something happens. */
interface Place {
  readonly world: RunWorld;
  readonly process: RunProcess;
  readonly run: Run;
}

/** Runs a step whose work leaves an effect, and takes `workMs`. Also checks that whoever starts the work may. */
export async function runStep(
  where: Place,
  name: StepName,
  workMs: number,
  options: Pick<StepOptions, "onSent"> = {},
): Promise<JsonValue> {
  const { world, process, run } = where;
  const { clock } = world;
  return run.step<JsonValue>(name, { ...options, idempotent: name === "read" }, async ({ attempt }) => {
    await checkStart(world, run, name, attempt);
    world.effects.push({ runId: run.id, step: name, attempt });
    if (workMs > 0) await process.pass(new Promise<void>((resolve) => void clock.after(workMs, resolve)));
    return attempt;
  });
}

/** Runs a step, and appends a note about its outcome without waiting until that is on disk; again if the store was away. */
export async function runStepAhead(where: Place, name: StepName, workMs: number): Promise<void> {
  await runStep(where, name, workMs, { onSent: (kept) => void kept.catch(() => undefined) });
  const note = (): Promise<void> => appendNote(where.world, where.run, name);
  await note().catch(note);
}

async function checkStart(world: RunWorld, run: Run, name: StepName, attempt: number): Promise<void> {
  const { store, clock, violations, takenAt } = world;
  const records = (await readAll(store.log, toStream(run.id))).flatMap(({ value }) => toRecord(value) ?? []);
  const isIntent = (record: RunRecord): boolean =>
    record.type === "step-intent" && record.step === name && record.attempt === attempt;
  if (!records.some(isIntent)) violations.push(`${run.id}: ${name} started without an intent`);
  if (records.some((record) => record.type === "step-outcome" && record.step === name)) {
    violations.push(`${run.id}: ${name} started although its outcome is recorded`);
  }
  // Whoever was taken over right after the intent cannot know it yet; half a lease later everybody must.
  const taken = takenAt.get(`${run.id} ${run.epoch + 1}`) ?? Infinity;
  if (clock.elapsed() - taken > worldLeaseMs / 2) violations.push(`${run.id}: a zombie started ${name}`);
}

/** What a worker does with each run of this world: it must bring it to an end. */
export function handlerOf(world: RunWorld, process: RunProcess, workMs: number): RunHandler {
  return async (run) => {
    for (const name of ["read", "pay"] as const) {
      try {
        await runStep({ world, process, run }, name, workMs);
      } catch (cause) {
        if (!isKitbagError(cause, "step-uncertain")) throw cause;
        await run.resolve(name, { output: "nobody knows" });
      }
    }
    return "done";
  };
}

/** Appends a note that says under which lease it was written, and from the outcome of which step it follows. */
export async function appendNote(world: RunWorld, run: Run, follows?: StepName): Promise<void> {
  const number = (world.noteCount += 1);
  await run.append([{ type: "note", epoch: run.epoch, number, ...(follows && { follows }) }]);
  world.notes.set(run.id, [...(world.notes.get(run.id) ?? []), number]);
}

/** Checks everything that must hold at every moment, and answers with what does not. */
export async function findViolations(world: RunWorld): Promise<readonly string[]> {
  await settled();
  const found = [...world.violations];
  for (const stream of await world.store.log.streams({ prefix: "run:" })) {
    const runId = stream.slice("run:".length);
    const entries = await readAll(world.store.log, stream);
    const journal = entries.map(({ value }) => value as Record<string, JsonValue>);
    found.push(...checkJournal(journal).map((problem) => `${runId}: ${problem}`));
    if (entries.some(({ position }, index) => position !== index + 1)) found.push(`${runId}: the positions have a gap`);
    found.push(...checkNotes(runId, journal, world.notes.get(runId) ?? []));
    const resets = journal.filter(({ type, step }) => type === "step-reset" && step === "pay").length;
    const paid = world.effects.filter((effect) => effect.runId === runId && effect.step === "pay").length;
    if (paid > 1 + resets) found.push(`${runId}: paid ${paid} times`);
  }
  return found;
}

function checkJournal(journal: readonly Record<string, JsonValue>[]): string[] {
  const problems: string[] = [];
  const done = new Set<JsonValue | undefined>();
  const started = new Set<JsonValue | undefined>();
  let epoch = 0;
  for (const [index, { type, ...record }] of journal.entries()) {
    if (journal[index - 1]?.["type"] === "run-end") problems.push(`${JSON.stringify(type)} after the end`);
    if (type === "lease-start") {
      if (record["epoch"] !== epoch + 1) problems.push(`epoch ${JSON.stringify(record["epoch"])} after ${epoch}`);
      epoch += 1;
    }
    if ((type === "note" || type === "lease-end") && record["epoch"] !== epoch) problems.push(`a ${type} of a zombie`);
    if (record["follows"] !== undefined && !done.has(record["follows"])) problems.push("a note without its outcome");
    problems.push(...checkStep(type, record["step"], { done, started }));
  }
  return problems;
}

interface StepsSoFar {
  readonly done: Set<JsonValue | undefined>;
  readonly started: Set<JsonValue | undefined>;
}

function checkStep(
  type: JsonValue | undefined,
  step: JsonValue | undefined,
  { done, started }: StepsSoFar,
): readonly string[] {
  const problems: string[] = [];
  if (type === "step-intent") {
    if (done.has(step)) problems.push("an intent after the outcome");
    started.add(step);
  }
  if (type === "step-outcome") {
    if (done.has(step)) problems.push("two outcomes of one step");
    if (!started.has(step)) problems.push("an outcome without an intent");
    done.add(step);
  }
  return problems;
}

function checkNotes(
  runId: string,
  journal: readonly Record<string, JsonValue>[],
  acknowledged: readonly number[],
): string[] {
  const kept = journal.filter(({ type }) => type === "note").map(({ number }) => Number(number));
  const problems: string[] = [];
  if (new Set(kept).size !== kept.length) problems.push(`${runId}: a note is there twice`);
  if (acknowledged.some((number) => !kept.includes(number))) problems.push(`${runId}: an acknowledged note is lost`);
  return problems;
}
