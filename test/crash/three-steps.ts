import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import type { RunHandler } from "../../src/records/runs/run.ts";
import type { CrashStore } from "./crash-store.ts";

/** What the program `work-on-runs.ts` is told. */
export interface WorkerProgram extends ThreeStepsOptions {
  readonly store: CrashStore;
  readonly leaseMs: number;
  /** Where in the step "two" the process kills itself. */
  readonly dieAt?: "before intent" | "after intent" | "after effect" | "after outcome";
}

/** What {@link threeSteps} does, and where it can be seen from outside. */
export interface ThreeStepsOptions {
  readonly worker: string;
  /** A file that gets a line for each piece of work that was started. */
  readonly effects: string;
  readonly idempotent: boolean;
  /** How long the step "two" takes. It pays no attention to its signal, like the worst of tools. */
  readonly workMs: number;
}

/** Makes a handler of three steps: each answers with who did it. */
export function threeSteps(options: ThreeStepsOptions, onStep: (step: string) => void = () => undefined): RunHandler {
  const { worker, effects, idempotent, workMs } = options;
  return async (run) => {
    const done: string[] = [];
    for (const name of ["one", "two", "three"]) {
      const output = await run.step(name, { idempotent }, async ({ key }) => {
        appendFileSync(effects, `${worker} ${key}\n`);
        onStep(name);
        if (name === "two") await setTimeout(workMs);
        return worker;
      });
      done.push(output);
    }
    return done;
  };
}

/** The lines of the file of effects. */
export function readEffects(effects: string): readonly string[] {
  return existsSync(effects) ? readFileSync(effects, "utf8").split("\n").slice(0, -1) : [];
}
