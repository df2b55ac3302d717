import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { isFunction } from "../find-wrong-option.ts";
import type { Call } from "./call.ts";
import { admit } from "./admit.ts";
import { authorise } from "./authorise.ts";
import { cap } from "./cap.ts";
import { checkInput } from "./check-input.ts";
import { checkOutput } from "./check-output.ts";
import { guard } from "./guard.ts";
import { phaseNames, type Middleware, type OpenPhaseName, type PhaseName } from "./middleware.ts";
import type { Phase } from "./phase.ts";
import { record } from "./record.ts";
import { redact } from "./redact.ts";
import { resolve } from "./resolve.ts";
import { run } from "./run.ts";

/** The way a call takes, from the first phase to the last, with the middlewares between them. */
export interface Chain {
  run(call: Call): Promise<ToolOutcome>;
  /** Puts a middleware before a phase, after those that are there already; answers with the function that takes it out. */
  use(middleware: Middleware, before: OpenPhaseName): () => void;
}

const phases: Readonly<Record<PhaseName, Phase>> = {
  record,
  cap,
  redact,
  resolve,
  "check-input": checkInput,
  authorise,
  admit,
  "check-output": checkOutput,
  run,
};

const openPhases = phaseNames.slice(3) as readonly OpenPhaseName[];

/** Makes the way with the built-in phases. */
export function createChain(): Chain {
  const added: { readonly phase: Phase; readonly before: OpenPhaseName }[] = [];
  let steps = toSteps();

  function toSteps(): readonly Phase[] {
    return phaseNames.flatMap((name) => [
      ...added.filter(({ before }) => before === name).map(({ phase }) => phase),
      phases[name],
    ]);
  }

  return {
    // A call that has begun goes on the way it began.
    run: (call) => go(steps, 0, call),
    use(middleware, before) {
      checkUse(middleware, before);
      const step = { phase: guard(middleware), before };
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

function checkUse(middleware: unknown, before: unknown): void {
  if (!isFunction(middleware)) {
    const found = showValue(middleware);
    throw new KitbagError("option-invalid", { option: "middleware", found, expected: "a function" });
  }
  if (openPhases.includes(before as OpenPhaseName)) return;
  const expected = `one of ${openPhases.join(", ")}`;
  throw new KitbagError("option-invalid", { option: "before", found: showValue(before), expected });
}

async function go(steps: readonly Phase[], index: number, call: Call): Promise<ToolOutcome> {
  const step = steps[index] as Phase;
  return step(call, () => go(steps, index + 1, call));
}
