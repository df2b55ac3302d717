import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { findWrongOption, isFunction, type Expectations } from "../options/find-wrong-option.ts";
import type { Call } from "./call.ts";
import { admit } from "./admit.ts";
import { applyGuards } from "./apply-guards.ts";
import { authorise } from "./authorise.ts";
import { cap } from "./cap.ts";
import { checkInput } from "./check-input.ts";
import { checkOutput } from "./check-output.ts";
import { guard } from "./guard.ts";
import { phaseNames, type Middleware, type OpenPhaseName, type PhaseName, type UseOptions } from "./middleware.ts";
import type { Phase } from "./phase.ts";
import { recall } from "./recall.ts";
import { nameFiles } from "./name-files.ts";
import { record } from "./record.ts";
import { resolve } from "./resolve.ts";
import { run } from "./run.ts";
import { tryAgain } from "./try-again.ts";

/** The way a call takes, from the first phase to the last, with the middlewares between them. */
export interface Chain {
  run(call: Call): ToolOutcome | Promise<ToolOutcome>;
  /** Puts a middleware before a phase, after those that are there already; answers with the function that takes it out. */
  use(middleware: Middleware, options?: UseOptions): () => void;
}

const phases: Readonly<Record<PhaseName, Phase>> = {
  record,
  cap,
  resolve,
  "check-input": checkInput,
  guards: applyGuards,
  files: nameFiles,
  authorise,
  admit,
  recall,
  "try-again": tryAgain,
  "check-output": checkOutput,
  run,
};

const openPhases = phaseNames.slice(2) as readonly OpenPhaseName[];

/** Makes the way with the built-in phases; without guards, there is nothing to apply. */
export function createChain(hasGuards = false): Chain {
  const added: { readonly phase: Phase; readonly before: OpenPhaseName }[] = [];
  let steps = toSteps();

  function toSteps(): readonly Phase[] {
    return phaseNames.flatMap((name) => [
      ...added.filter(({ before }) => before === name).map(({ phase }) => phase),
      ...(name === "guards" && !hasGuards ? [] : [phases[name]]),
    ]);
  }

  return {
    // A call that has begun goes on the way it began.
    run: (call) => go(steps, 0, call),
    use(middleware, options = {}) {
      checkUse(middleware, options);
      const step = { phase: guard(middleware), before: options.before ?? "resolve" };
      added.push(step);
      steps = toSteps();
      return () => {
        const index = added.indexOf(step);
        if (index >= 0) added.splice(index, 1);
        steps = toSteps();
      };
    },
  };
}

const expectations: Expectations<UseOptions> = {
  before: [(value) => openPhases.includes(value as OpenPhaseName), `one of ${openPhases.join(", ")}`],
};

function checkUse(middleware: unknown, options: UseOptions): void {
  if (!isFunction(middleware)) {
    const found = showValue(middleware);
    throw new KitbagError("option-invalid", { option: "middleware", found, expected: "a function" });
  }
  const wrong = findWrongOption(options, expectations);
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
}

function go(steps: readonly Phase[], index: number, call: Call): ToolOutcome | Promise<ToolOutcome> {
  const step = steps[index] as Phase;
  return step(call, () => go(steps, index + 1, call));
}
