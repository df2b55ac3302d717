import { setTimeout as wait } from "node:timers/promises";

import type { Contender, Question } from "./question.ts";
import { callCount, callEcho, openBag, spawnEcho, type Language } from "./script-skill.ts";

/** As long as a slot takes to be ready again; whoever calls more often is measured in `sandbox-load`. */
const pauseMs = 120;

const question: Question = {
  title: "What does a script in the sandbox cost?",
  text: `A script that reads JSON and answers with it, called through all phases, from the call to the outcome: in a sandbox with an interpreter that waits (warm), in one that is made for the call (cold), and as a plain process of this user without any sandbox (plain spawn). And one of Python that counts the bytes of a file which the caller names, with and without such a file.`,
  unit: "ms a call",
  rounds: 31,
  targets: [
    ratio("Python, warm", "Python, plain spawn", 0.4),
    ratio("Bash, warm", "Bash, plain spawn", 1.5),
    ratio("Node, warm", "Node, plain spawn", 0.5),
    ratio("TypeScript, warm", "Node, warm", 1.1),
    ratio("Python, warm, a file of 1 MB", "Python, warm, no file", 1.3),
  ],
  async contenders() {
    const warm = await openBag({});
    const cold = await openBag({ warm: false });
    const files = [true, false].map((hasFile) =>
      timed(`Python, warm, ${hasFile ? "a file of 1 MB" : "no file"}`, () => callCount(warm, hasFile)),
    );
    const echoes = (["python", "bash", "node", "typescript"] as const).flatMap((language) => [
      timed(`${titles[language]}, warm`, () => callEcho(warm, language)),
      timed(`${titles[language]}, cold`, () => callEcho(cold, language)),
      timed(`${titles[language]}, plain spawn`, () => spawnEcho(language)),
    ]);
    return [...echoes, ...files];
  },
};

export default question;

const titles: Readonly<Record<Language, string>> = {
  python: "Python",
  bash: "Bash",
  node: "Node",
  typescript: "TypeScript",
};

function ratio(own: string, other: string, limit: number): Question["targets"][number] {
  return { text: `${own} to ${other}`, unit: "×", limit, value: (cost) => cost(own) / cost(other) };
}

function timed(name: string, work: () => Promise<void>): Contender {
  return {
    name,
    async measure() {
      await wait(pauseMs);
      const before = performance.now();
      await work();
      return performance.now() - before;
    },
  };
}
