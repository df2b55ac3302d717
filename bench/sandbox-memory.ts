import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

import type { Contender, Question } from "./question.ts";
import { callEcho, openBag, type Language } from "./script-skill.ts";

const question: Question = {
  title: "How much memory does a waiting interpreter hold?",
  text: "After one call of the script, what waits for the next one: all processes that this one started, each with its share of what they have in common (PSS). For Python it is the server and its successor.",
  unit: "MB",
  rounds: 5,
  targets: [],
  contenders: async () => [held("Python", "python"), held("Bash", "bash"), held("Node", "node")],
};

export default question;

function held(name: string, language: Language): Contender {
  return {
    name,
    async measure() {
      const bag = await openBag({});
      await callEcho(bag, language);
      await wait(1000);
      const bytes = measureChildren();
      await bag.runtimes.close();
      return bytes / 1e6;
    },
  };
}

function measureChildren(): number {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/u.test(name))
      .map((name) => [Number(name), Number(/\) \S (\d+)/u.exec(read(name, "stat"))?.[1])]),
  );
  const isChild = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === process.pid || isChild(parents.get(pid)));
  return [...parents.keys()]
    .filter((pid) => pid !== process.pid && isChild(pid))
    .reduce(
      (sum, pid) => sum + Number(/^Pss:\s+(\d+) kB/mu.exec(read(String(pid), "smaps_rollup"))?.[1] ?? 0) * 1024,
      0,
    );
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It ended in the meantime.
    return "";
  }
}
