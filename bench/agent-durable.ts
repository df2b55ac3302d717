import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createWorkspace, defineTool, type JsonObject, type Store } from "kitbag";
import { createAgent, type Agent } from "kitbag/agent";

import type { Model } from "kitbag/models";

import { benchModel, callSteps } from "./agent-models.ts";
import { addSchema, plainLoad, streamTextRun } from "./agent-peers.ts";
import type { Contender, Cost, Question } from "./question.ts";
import { openStoreFile, type StoreFile } from "./store-file.ts";

const atOnce = 32;
const steps = callSteps + 1;
/** So often each is measured alone in a round: twice as the first of all, which has the garbage of the one before to collect. */
const singles = 14;
/** So often everything is done before it is measured: code that is new is slow, and so is a file that still grows. */
const warmUps = 200;

/** What must be on disk before the run goes on: an intent and an outcome of each call; the start and the end. */
const points = 2 * callSteps + 2;
const eachPoint = `${points} bare commits, one for each intent and outcome`;
const ownCommits = "the commits that one run makes, bare";
const between = "one run, in memory, with those bare commits between its steps";

/** What a run may cost that makes these commits: what it costs in memory, and a fifth more than they cost alone. */
const allowed = (cost: Cost, inMemory: string, commits: string): number => cost(inMemory) + 1.2 * cost(commits);

const question: Question = {
  title: "What does it cost that a run survives a crash?",
  text: `The run of \`agent.ts\` (${callSteps} calls, one after the other, and an answer), by the clock. With a store: SQLite that waits for the disk with every commit (\`synchronous = FULL\`), each call with its intent before and its outcome after it. ${atOnce} runs at once share commits; AI SDK runs ${atOnce} at once too, and keeps nothing. A single run is compared with its cost in memory and bare commits of the same lines to the same kind of file, with nothing in between: one for each intent (with the answer that asks for the call) and each outcome, the start and the end. A run that somebody listens to makes just these. One that nobody listens to needs fewer, because it writes an outcome together with the answer that follows it when the model answers at once: those are beside it, bare, too. How near to that limit one can come is shown by the run in memory with nothing of ours but those bare commits between its steps: whatever runs after a wait for the disk runs slower than in a loop of its own.`,
  unit: "µs a step",
  rounds: 31,
  targets: [
    {
      text: `${atOnce} runs at once, kept, to streamText`,
      unit: "×",
      limit: 0.5,
      value: (cost) => cost(`${atOnce} runs at once, kept`) / cost(`${atOnce} runs at once, AI SDK`),
    },
    {
      text: "one run, kept, to one in memory and 1.2 × as many bare commits as it makes",
      unit: "×",
      limit: 1,
      value: (cost) => cost("one run, kept") / allowed(cost, "one run, in memory", ownCommits),
    },
    {
      text: "the same, with nothing of ours: in memory, with those bare commits between its steps",
      unit: "×",
      limit: 1,
      value: (cost) => cost(between) / allowed(cost, "one run, in memory", ownCommits),
    },
    {
      text: `one run, kept, listened to, to one in memory and 1.2 × the ${points} bare commits that it makes`,
      unit: "×",
      limit: 1,
      value: (cost) => cost("one run, kept, listened to") / allowed(cost, "one run, in memory, listened to", eachPoint),
    },
    {
      text: `one run, kept, to one in memory and 1.2 × ${points} bare commits`,
      unit: "×",
      limit: 1,
      value: (cost) => cost("one run, kept") / allowed(cost, "one run, in memory", eachPoint),
    },
    {
      text: "commits of one run that wait for the disk",
      unit: "",
      limit: callSteps + 2,
      value: (cost) => cost("commits of one run (a count)"),
    },
  ],
  async contenders() {
    // A file for each, so that none has to tidy up after another.
    const [many, { store: single }, { store: heard }, { store: bare }] = [
      await openStoreFile(),
      await openStoreFile(),
      await openStoreFile(),
      await openStoreFile(),
    ];
    const kept = createBenchAgent(many.store);
    const keptAlone = createBenchAgent(single);
    const keptHeard = createBenchAgent(heard);
    const inMemory = createBenchAgent(undefined);
    const { together, oneByOne } = await findCommits(many);
    const committing = createBenchAgent(undefined, commitByAnswer(bare, together));
    const streamText = streamTextRun(plainLoad(1));
    // None beside one that is much like it: it would be warm from that.
    const works = {
      "one run, kept": () => runKitbag(keptAlone),
      [eachPoint]: () => commitAgain(bare, oneByOne),
      "one run, in memory": () => runKitbag(inMemory),
      [ownCommits]: () => commitAgain(bare, together),
      "one run, kept, listened to": () => listenTo(keptHeard),
      [between]: () => runKitbag(committing),
      "one run, in memory, listened to": () => listenTo(inMemory),
    };
    for (let index = 0; index < warmUps; index++) for (const work of Object.values(works)) await work();
    return [
      manyAtOnce(`${atOnce} runs at once, kept`, () => runKitbag(kept)),
      manyAtOnce(`${atOnce} runs at once, AI SDK`, streamText),
      ...inTurn(works),
      { name: "commits of one run (a count)", measure: () => together.length },
    ];
  },
};

export default question;

function manyAtOnce(name: string, run: () => Promise<void>): Contender {
  return {
    name,
    async measure() {
      const before = performance.now();
      await Promise.all(Array.from({ length: atOnce }, () => run()));
      return ((performance.now() - before) * 1000) / atOnce / steps;
    },
  };
}

/**
 * Measures single runs in turn, some of each in every round, and another one first each time: a disk that becomes busy for a moment is
 * busy for all of them. Whoever is asked for a round that is not measured yet has it measured for all.
 */
function inTurn(works: Readonly<Record<string, () => Promise<void>>>): readonly Contender[] {
  const found = new Map<string, number>();
  const all = Object.entries(works);
  async function measureAll(): Promise<void> {
    for (let index = 0; index < singles; index++) {
      const first = index % all.length;
      for (const [name, work] of [...all.slice(first), ...all.slice(0, first)]) {
        const before = performance.now();
        await work();
        found.set(name, (found.get(name) ?? 0) + ((performance.now() - before) * 1000) / singles / steps);
      }
    }
  }
  return all.map(([name]) => ({
    name,
    async measure() {
      if (!found.has(name)) await measureAll();
      const cost = found.get(name) ?? Number.NaN;
      found.delete(name);
      return cost;
    },
  }));
}

async function runKitbag(agent: Agent): Promise<void> {
  const { text, usage } = await agent.run("Add");
  if (text !== "done" || usage.toolCalls !== callSteps) throw new Error("Kitbag did something else");
}

/** Who listens is told that a call is over when that is on disk. */
async function listenTo(agent: Agent): Promise<void> {
  const run = agent.run("Add");
  let ends = 0;
  for await (const { type } of run) if (type === "tool-end") ends += 1;
  if (ends !== callSteps || (await run.result).text !== "done") throw new Error("Kitbag did something else");
}

function createBenchAgent(store: Store | undefined, model: Model = benchModel()): Agent {
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: addSchema,
    run: ({ a, b }) => Number(a) + Number(b),
  });
  const workspace = createWorkspace({ tools: [add] });
  return createAgent({ model, workspace, ...(store && { store }) });
}

/** One commit, of the same kind and size as one of a run. */
type Commit = (store: Store, run: number) => Promise<unknown>;

/** What one run commits, in order: as it does, and each thing that must be on disk alone. */
interface RunCommits {
  readonly together: readonly Commit[];
  readonly oneByOne: readonly Commit[];
}

/** The lease is taken and given back in commits of their own, which do not wait for the disk. */
const leaseCommits = 2;

/** How many commits a run makes is found in the file, not in what it was meant to do. */
async function findCommits({ store, directory }: StoreFile): Promise<RunCommits> {
  const agent = createBenchAgent(store);
  const countSoFar = (): number => countCommits(readFileSync(join(directory, "kitbag.db-wal")));
  await runKitbag(agent);
  const before = countSoFar();
  const run = agent.run("Add");
  await run.result;
  const count = countSoFar() - before;
  const [start, ...groups] = toGroups((await store.log.read(`run:${run.id}`)).map(({ value }) => value as JsonObject));
  // An answer comes with the outcome before it; the first has none.
  const together = [start ?? [], groups[0] ?? []];
  for (let index = 1; index < groups.length; index += 2) {
    together.push([...(groups[index] ?? []), ...(groups[index + 1] ?? [])]);
  }
  const expected = together.length + leaseCommits;
  if (expected !== count) throw new Error(`A run made ${count} commits instead of ${expected}`);
  return { together: toCommits(together), oneByOne: toCommits([start ?? [], ...groups]) };
}

/** The lines of a journal: the start, then an answer with what it asks for or the end, and an outcome, by turns. */
function toGroups(lines: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const groups: JsonObject[][] = [];
  for (const line of lines) {
    if (["lease-start", "model-answer", "step-outcome"].includes(line["type"] as string)) groups.push([]);
    groups.at(-1)?.push(line);
  }
  return groups;
}

function toCommits(groups: readonly (readonly JsonObject[])[]): readonly Commit[] {
  return groups.map(
    (lines): Commit =>
      (bare, number) =>
        bare.log.append(`bare:${number}`, lines),
  );
}

/** Counts the frames of a write-ahead log that end a commit. Those behind the last one of this round have another salt. */
function countCommits(log: Buffer): number {
  const pageSize = log.readUInt32BE(8);
  let count = 0;
  for (let place = 32; place + 24 + pageSize <= log.length; place += 24 + pageSize) {
    if (!log.subarray(place + 8, place + 16).equals(log.subarray(16, 24))) break;
    if (log.readUInt32BE(place + 4) > 0) count += 1;
  }
  return count;
}

/** A model that commits once before each of its answers, as a run does that is kept, and once more before the first. */
function commitByAnswer(store: Store, commits: readonly Commit[]): Model {
  const model = benchModel();
  let next = 0;
  let run = 0;
  return {
    ...model,
    async doStream(call) {
      if (next === 0) await commits[next++]?.(store, (run = bareRuns += 1));
      const answer = await model.doStream(call);
      await commits[next++]?.(store, run);
      if (next === commits.length) next = 0;
      return answer;
    },
  };
}

let bareRuns = 0;

async function commitAgain(store: Store, commits: readonly Commit[]): Promise<void> {
  const run = (bareRuns += 1);
  for (const commit of commits) await commit(store, run);
}
