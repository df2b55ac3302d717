import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { createProject, type Project } from "../run-kitbag.ts";

/** A project with one skill, whose tools do what the clients are looked at for. */
export interface CounterProject extends Project {
  /** Whether the tool that waits has begun, and whether its call was cancelled. */
  seen(what: "began" | "cancelled"): boolean;
  /** Forgets what was seen. */
  reset(): void;
}

/** What `kitbag serve` is told in this project. */
export const counterWords: readonly string[] = ["--module", "tools.ts"];

/** Makes the project. */
export function createCounterProject(): CounterProject {
  const project = createProject({ "tools.ts": module });
  const marks = join(project.folder, "marks");
  const reset = (): void => {
    rmSync(marks, { recursive: true, force: true });
    mkdirSync(marks);
  };
  reset();
  return { ...project, seen: (what) => existsSync(join(marks, what)), reset };
}

const module = `import { writeFileSync } from "node:fs";
import { defineSkill, defineTool } from "kitbag";

const mark = (name) => writeFileSync("marks/" + name, "");
const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => { clearTimeout(timer); mark("cancelled"); resolve(); }, { once: true });
});

const count = defineTool({
  name: "count",
  description: "Counts to a number and says each step",
  input: { type: "object", properties: { to: { type: "integer", minimum: 1, maximum: 9 } }, required: ["to"] },
  async run({ to }, { signal, progress }) {
    for (let step = 1; step <= to; step += 1) {
      progress({ done: step, total: to });
      await pause(20, signal);
    }
    return "counted " + to;
  },
});
const wait = defineTool({
  name: "wait",
  description: "Waits until it is cancelled",
  async run(_input, { signal }) {
    mark("began");
    await pause(20000, signal);
    return "waited";
  },
});
const fail = defineTool({
  name: "fail",
  description: "Fails",
  run() { throw new Error("the counter is broken"); },
});

export default {
  skills: [
    defineSkill({
      name: "counter",
      description: "Counts, waits and fails",
      workDirection: "Count with plugin:counter/count.",
      tools: [count, wait, fail],
    }),
  ],
};
`;
