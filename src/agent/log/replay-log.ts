import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelAnswered } from "../events.ts";
import type { Folded } from "./fold-journal.ts";
import type { KeptEvent, RunLog } from "./run-log.ts";

/** Where a replay is not what the run was. */
export interface Divergence {
  readonly step: number;
  /** What differs, in words. */
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

/** Thrown to end a replay. */
export class ReplayEnd extends Error {
  /** `undefined` if the journal is at its end. */
  readonly divergence: Divergence | undefined;

  constructor(divergence: Divergence | undefined) {
    super(divergence === undefined ? "The journal is at its end" : divergence.what);
    this.divergence = divergence;
  }
}

/** Makes a log that writes nothing, and compares what is to be written with what is there. */
export function createReplayLog(recorded: readonly KeptEvent[], { outcomes }: Folded): RunLog {
  let next = 0;
  // The loop does not wait for every line that it writes: what was wrong with one is thrown at the next place where it does.
  let end: ReplayEnd | undefined;

  return {
    isKept: true,
    signal: undefined,
    async write(event) {
      // A decision is known from the beginning here, so that nobody is asked for it.
      if (event.type === "approval-asked") return;
      end ??= compare(recorded[next++], event);
      if (end !== undefined) throw end;
    },
    hold(event) {
      end ??= compare(recorded[next++], event);
    },
    async release() {
      if (end !== undefined) throw end;
    },
    async call({ name }) {
      const outcome: ToolOutcome | undefined = outcomes.get(name);
      if (end !== undefined) throw end;
      if (outcome === undefined) throw new ReplayEnd(undefined);
      return { outcome, recalled: true };
    },
    end: () => undefined,
    pause: () => undefined,
    close: () => undefined,
  };
}

function compare(expected: KeptEvent | undefined, found: KeptEvent): ReplayEnd | undefined {
  if (expected === undefined) return new ReplayEnd(undefined);
  const step = "step" in expected ? expected.step : 0;
  const difference =
    findDifference("something else happens", expected.type, found.type) ??
    (expected.type === "model-answer" ? compareAnswers(expected, found as ModelAnswered) : undefined) ??
    (expected.type === "message-added" && "message" in found
      ? findDifference("the agent says something else", expected.message, found.message)
      : undefined);
  return difference && new ReplayEnd({ step, ...difference });
}

type Difference = Omit<Divergence, "step"> | undefined;

function compareAnswers(expected: ModelAnswered, found: ModelAnswered): Difference {
  return (
    findDifference("other skills are open", expected.skills, found.skills) ??
    findDifference("the model is shown other tools", expected.tools, found.tools) ??
    findDifference("the model is shown another conversation", expected.prompt, found.prompt)
  );
}

function findDifference(what: string, before: unknown, now: unknown): Difference {
  const [expected = "nothing", found = "nothing"] = [before, now].map((value) => JSON.stringify(value));
  return expected === found ? undefined : { what, expected, found };
}
