import { execFileSync } from "node:child_process";
import { join } from "node:path";

import type { Contender, Question } from "./question.ts";

/** What the program beside this file measures. */
const program = join(import.meta.dirname, "agent-memory-program.ts");

const stillThere = "runs that have ended: % still there";
const stillThereKept = "runs that have ended, kept in SQLite: % still there";

const question: Question = {
  title: "How much memory does a run of an agent take?",
  text: "Each in a process of its own, whose young generation is so large that nothing is collected while it is measured: what the heap has grown by after 20 of the runs of `agent.ts` (ten calls and an answer), for each run; all warmed up with 200 runs. Then 1,000 runs of Kitbag at the same time, and one of 200 steps: CPU and heap of a step between the 150th and the 200th to one between the 10th and the 60th, the median of 15 such runs. Last, what nobody needs any more and is still there when the young generation was collected twice, after 200 runs that have ended: it waits for the old generation, and makes each collection of the young longer.",
  unit: "kB a run, or as it says",
  rounds: 5,
  targets: [
    { text: "to pi", unit: "×", limit: 1, value: (cost) => cost("Kitbag") / cost("pi") },
    {
      text: "runs that are not done of 1,000 at the same time",
      unit: "",
      limit: 0,
      value: (cost) => 1000 - cost("1,000 runs at the same time: done"),
    },
    {
      text: "CPU of late steps to early ones",
      unit: "×",
      limit: 1.3,
      value: (cost) => cost("200 steps: CPU, late to early"),
    },
    {
      text: "heap of late steps to early ones",
      unit: "×",
      limit: 1.3,
      value: (cost) => cost("200 steps: heap, late to early"),
    },
    {
      text: "of what runs that have ended took, still there",
      unit: "%",
      limit: 2,
      value: (cost) => Math.max(cost(stillThere), cost(stillThereKept)),
    },
  ],
  contenders: async () => [
    contend("Kitbag", "kitbag"),
    contend("pi", "pi"),
    contend("AI SDK", "ai"),
    contend("1,000 runs at the same time: done", "many"),
    contend("1,000 runs at the same time: MB of heap", "many-heap"),
    contend("200 steps: CPU, late to early", "long-cpu"),
    contend("200 steps: heap, late to early", "long-heap"),
    contend(stillThere, "outlive"),
    contend(stillThereKept, "outlive-kept"),
  ],
};

export default question;

function contend(name: string, what: string): Contender {
  return {
    name,
    measure() {
      const args = ["--expose-gc", "--max-semi-space-size=512", "--min-semi-space-size=512", ...process.execArgv];
      return Number(execFileSync(process.execPath, [...args, program, what], { encoding: "utf8" }));
    },
  };
}
