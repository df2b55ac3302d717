import { execFileSync } from "node:child_process";
import { join } from "node:path";

import type { Load } from "./agent-peers.ts";
import type { Contender, Cost, Question } from "./question.ts";

/** What the program beside this file measures. */
const program = join(import.meta.dirname, "agent-load-program.ts");

/** How many runs are made before the later ones are measured, and how many of these. */
export const warmUpRuns = 20;
export const runsAfterwards = 100;

/** The loads, by the name that the table shows. */
export const loads = {
  "10 steps": { tools: 1, calls: 1, earlier: 0 },
  "8 parallel calls": { tools: 1, calls: 8, earlier: 0 },
  "400 messages before": { tools: 1, calls: 1, earlier: 400 },
  "8 results of 200 KB": { tools: 1, calls: 8, earlier: 0, result: largeText() },
} as const satisfies Readonly<Record<string, Load>>;

export type LoadName = keyof typeof loads;

const peers = ["Kitbag", "AI SDK", "pi"] as const;

const question: Question = {
  title: "What does an agent cost when it is cold, and under load?",
  text: `Each in a process of its own: ten steps with calls of a tool, and an answer. With one call a step; with 8 calls a step; with 400 messages before the task; with 8 results of 200 KB a step, which all contenders keep whole. The first run of the process, then ${runsAfterwards} runs after ${warmUpRuns}. AI SDK: \`streamText\`. pi: its agent core.`,
  unit: "ms CPU a run, or MB of resident memory",
  rounds: 7,
  targets: [
    target("first run to AI SDK's", 1, (cost) => cost("Kitbag, first run") / cost("AI SDK, first run")),
    target("10 steps to pi", 1.1, toPeer("10 steps", "pi")),
    target("8 parallel calls to pi", 1.5, toPeer("8 parallel calls", "pi")),
    target("400 messages before to pi", 1.3, toPeer("400 messages before", "pi")),
    target("8 results of 200 KB to AI SDK", 0.3, toPeer("8 results of 200 KB", "AI SDK")),
    target("8 results of 200 KB, memory to AI SDK", 1, (cost) => cost("Kitbag, memory") / cost("AI SDK, memory")),
  ],
  contenders: async () => peers.flatMap((peer) => contend(peer)),
};

export default question;

function target(text: string, limit: number, value: (cost: Cost) => number): Question["targets"][number] {
  return { text, unit: "×", limit, value };
}

function toPeer(load: LoadName, peer: string): (cost: Cost) => number {
  return (cost) => cost(`Kitbag, ${load}`) / cost(`${peer}, ${load}`);
}

interface Measured {
  readonly first: number;
  readonly later: number;
  readonly megabytes: number;
}

/** All figures of one contender. A process gives several of them: the first that is asked for in a round starts it. */
function contend(peer: string): readonly Contender[] {
  let plain: Measured | undefined;
  let large: Measured | undefined;
  const rows = (Object.keys(loads) as LoadName[]).map((load) => ({
    name: `${peer}, ${load}`,
    measure() {
      const measured = measureIn(peer, load);
      if (load === "10 steps") plain = measured;
      if (load === "8 results of 200 KB") large = measured;
      return measured.later;
    },
  }));
  return [
    ...rows,
    { name: `${peer}, first run`, measure: () => (plain ?? measureIn(peer, "10 steps")).first },
    { name: `${peer}, memory`, measure: () => (large ?? measureIn(peer, "8 results of 200 KB")).megabytes },
  ];
}

function measureIn(peer: string, load: LoadName): Measured {
  const args = [...process.execArgv, program, peer, load];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Measured;
}

/** 200,000 characters of lines with quotes, as files and answers of servers have them. */
function largeText(): string {
  return '{"name": "north", "amount": 125.25, "note": "paid"}\n'.repeat(4000).slice(0, 200_000);
}
