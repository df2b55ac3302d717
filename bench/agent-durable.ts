import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createWorkspace, defineTool, type JsonObject, type Store } from "kitbag";
import { createAgent, type Agent } from "kitbag/agent";

import { benchModel, callSteps } from "./agent-models.ts";
import { addSchema, streamTextRun } from "./agent-peers.ts";
import type { Contender, Question } from "./question.ts";
import { openStoreFile, type StoreFile } from "./store-file.ts";

const atOnce = 32;
const steps = callSteps + 1;
const singles = 10;
/** So often everything is done before it is measured: code that is new is slow, and so is a file that still grows. */
const warmUps = 200;

const question: Question = {
  title: "What does it cost that a run survives a crash?",
  text: `The run of \`agent.ts\` (${callSteps} calls, one after the other, and an answer), by the clock. With a store: SQLite that waits for the disk with every commit (\`synchronous = FULL\`), each call with its intent before and its outcome after it. ${atOnce} runs at once share commits; AI SDK runs ${atOnce} at once too, and keeps nothing. A single run shares none: it is compared with its cost in memory and the same number of bare commits, as many bytes each, to the same kind of file, with nothing in between. Beside it the same commits where a run makes its own, by the tool of a run that keeps nothing: a disk answers later when it had to do nothing for a moment, and so does a processor.`,
  unit: "µs a step",
  rounds: 15,
  targets: [
    {
      text: `${atOnce} runs at once, kept, to streamText`,
      unit: "×",
      limit: 0.5,
      value: (cost) => cost(`${atOnce} runs at once, kept`) / cost(`${atOnce} runs at once, AI SDK`),
    },
    {
      text: "one run, kept, to one in memory and 1.2 × its bare commits",
      unit: "×",
      limit: 1,
      value: (cost) =>
        cost("one run, kept") / (cost("one run, in memory") + 1.2 * cost("the commits of one run, bare")),
    },
    {
      // Two for each call; the start and the end, each with the lease.
      text: "commits of one run",
      unit: "",
      limit: 2 * callSteps + 2,
      value: (cost) => cost("commits of one run (a count)"),
    },
  ],
  async contenders() {
    // A file for each, so that none has to tidy up after another.
    const [many, { store: single }, { store: bare }] = [
      await openStoreFile(),
      await openStoreFile(),
      await openStoreFile(),
    ];
    const kept = createBenchAgent(many.store);
    const keptAlone = createBenchAgent(single);
    const inMemory = createBenchAgent(undefined);
    const commits = await findCommits(many);
    const byHand = createCommittingRun(bare, commits);
    const streamText = streamTextRun(1);
    const works = {
      "one run, kept": () => runKitbag(keptAlone),
      "one run, in memory": () => runKitbag(inMemory),
      "one run, in memory, that commits by hand": byHand,
      "the commits of one run, bare": () => commitAgain(bare, commits),
    };
    for (let index = 0; index < warmUps; index++) for (const work of Object.values(works)) await work();
    return [
      manyAtOnce(`${atOnce} runs at once, kept`, () => runKitbag(kept)),
      manyAtOnce(`${atOnce} runs at once, AI SDK`, streamText),
      ...inTurn(works),
      { name: "commits of one run (a count)", measure: () => commits.length },
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
 * Measures single runs in turn, some of each in every round: a disk that becomes busy for a moment is busy for all of them. Whoever is
 * asked for a round that is not measured yet has it measured for all.
 */
function inTurn(works: Readonly<Record<string, () => Promise<void>>>): readonly Contender[] {
  const found = new Map<string, number>();
  async function measureAll(): Promise<void> {
    for (let index = 0; index < singles; index++) {
      for (const [name, work] of Object.entries(works)) {
        const before = performance.now();
        await work();
        found.set(name, (found.get(name) ?? 0) + ((performance.now() - before) * 1000) / singles / steps);
      }
    }
  }
  return Object.keys(works).map((name) => ({
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
  const { text, usage } = await agent.run("Add").result;
  if (text !== "done" || usage.toolCalls !== callSteps) throw new Error("Kitbag did something else");
}

function createBenchAgent(
  store: Store | undefined,
  around: (work: () => number) => number | Promise<number> = runAlone,
): Agent {
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: addSchema,
    run: ({ a, b }) => around(() => Number(a) + Number(b)),
  });
  const workspace = createWorkspace({ tools: [add] });
  return createAgent({ model: benchModel(), workspace, ...(store && { store }) });
}

/** One commit, of the same kind and size as one of a run. */
type Commit = (store: Store, run: number) => Promise<unknown>;

/** What one run commits, in order. How many commits that are is found in the file, not in what the run was meant to do. */
async function findCommits({ store, directory }: StoreFile): Promise<readonly Commit[]> {
  const agent = createBenchAgent(store);
  const countSoFar = (): number => countCommits(readFileSync(join(directory, "kitbag.db-wal")));
  await runKitbag(agent);
  const before = countSoFar();
  const run = agent.run("Add");
  await run.result;
  const count = countSoFar() - before;
  const entries = await store.log.read(`run:${run.id}`);
  const lease = { worker: run.id, token: run.id, leaseMs: 10_000, until: Date.now() };
  const commits = toCommits(entries.map(({ value }) => value as JsonObject)).map(
    (values, index, { length }): Commit =>
      (bare, number) =>
        Promise.all([
          ...(index === 0 ? [bare.kv.set(`bare:${number}`, lease)] : []),
          bare.log.append(`bare:${number}`, values),
          ...(index === length - 1 ? [bare.kv.delete(`bare:${number}`)] : []),
        ]),
  );
  if (commits.length !== count) throw new Error(`A run made ${count} commits instead of ${commits.length}`);
  return commits;
}

/** The lines of a journal, as they are committed: an answer with what it asks for or the end, an outcome alone. */
function toCommits(values: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const commits: JsonObject[][] = [];
  for (const value of values) {
    const isFirst = value["type"] === "lease-start" || value["type"] === "model-answer";
    if (isFirst || value["type"] === "step-outcome") commits.push([]);
    commits.at(-1)?.push(value);
  }
  return commits;
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

function runAlone(work: () => number): number {
  return work();
}

let bareRuns = 0;

/** Makes a run that keeps nothing, whose tool commits before and after its work. */
function createCommittingRun(store: Store, commits: readonly Commit[]): () => Promise<void> {
  let made = 0;
  const commitNext = async (): Promise<void> => void (await commits[made++]?.(store, bareRuns));
  const agent = createBenchAgent(undefined, async (work) => {
    await commitNext();
    const sum = work();
    await commitNext();
    return sum;
  });
  return async () => {
    made = 0;
    bareRuns += 1;
    await commitNext();
    await runKitbag(agent);
    await commitNext();
    if (made !== commits.length) throw new Error(`A run made ${made} bare commits instead of ${commits.length}`);
  };
}

async function commitAgain(store: Store, commits: readonly Commit[]): Promise<void> {
  const run = (bareRuns += 1);
  for (const commit of commits) await commit(store, run);
}
