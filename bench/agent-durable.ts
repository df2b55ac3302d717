import { createWorkspace, defineTool, type Store } from "kitbag";
import { createAgent, type Agent } from "kitbag/agent";

import { benchModel, callSteps } from "./agent-models.ts";
import { addSchema, streamTextRun } from "./agent-peers.ts";
import type { Contender, Question } from "./question.ts";
import { openStoreFile } from "./store-file.ts";

const atOnce = 32;
const steps = callSteps + 1;
const singles = 10;

const question: Question = {
  title: "What does it cost that a run survives a crash?",
  text: `The run of \`agent.ts\` (${callSteps} calls, one after the other, and an answer), by the clock. With a store: SQLite that waits for the disk with every commit (\`synchronous = FULL\`), each call with its intent before and its outcome after it. ${atOnce} runs at once share commits; AI SDK runs ${atOnce} at once too, and keeps nothing. A single run shares none: it is compared with its cost in memory and the same number of bare commits, as many bytes each, to the same kind of file.`,
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
      // Two for each call; the lease taken, written down and given back; the start and the end.
      text: "commits of one run",
      unit: "",
      limit: 2 * callSteps + 5,
      value: (cost) => cost("commits of one run (a count)"),
    },
  ],
  async contenders() {
    // A file for each, so that none has to tidy up after another.
    const [{ store }, { store: single }, { store: bare }] = [
      await openStoreFile(),
      await openStoreFile(),
      await openStoreFile(),
    ];
    const kept = createBenchAgent(store);
    const keptAlone = createBenchAgent(single);
    const inMemory = createBenchAgent(undefined);
    const commits = await countCommits(store);
    const streamText = streamTextRun(1);
    return [
      manyAtOnce(`${atOnce} runs at once, kept`, () => runKitbag(kept)),
      manyAtOnce(`${atOnce} runs at once, AI SDK`, streamText),
      ...inTurn({
        "one run, kept": () => runKitbag(keptAlone),
        "one run, in memory": () => runKitbag(inMemory),
        "the commits of one run, bare": () => commitAgain(bare, commits),
      }),
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

function createBenchAgent(store: Store | undefined): Agent {
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: addSchema,
    run: ({ a, b }) => Number(a) + Number(b),
  });
  const workspace = createWorkspace({ tools: [add] });
  return createAgent({ model: benchModel(), workspace, ...(store && { store }) });
}

/** One commit, of the same kind and size as one of a run. */
type Commit = (store: Store, run: number) => Promise<unknown>;

/** What one run commits, in order: lines of its journal, and its lease. */
async function countCommits(store: Store): Promise<readonly Commit[]> {
  const commits: Commit[] = [];
  const { log, kv } = store;
  const watched: Store = {
    ...store,
    log: {
      ...log,
      append(stream, values, options) {
        commits.push((bare, run) => bare.log.append(`bare:${run}`, values));
        return log.append(stream, values, options);
      },
    },
    kv: {
      ...kv,
      set(key, value, options) {
        commits.push((bare, run) => bare.kv.set(`bare:${run}`, value));
        return kv.set(key, value, options);
      },
      delete(key, options) {
        commits.push((bare, run) => bare.kv.delete(`bare:${run}`));
        return kv.delete(key, options);
      },
    },
  };
  await runKitbag(createBenchAgent(watched));
  return commits;
}

let bareRuns = 0;

async function commitAgain(store: Store, commits: readonly Commit[]): Promise<void> {
  const run = (bareRuns += 1);
  for (const commit of commits) await commit(store, run);
}
