import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelAnswered } from "../events.ts";
import { addToolChanges, describeToolChanges } from "../run/shown-tools.ts";
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
  const shown: Shown = { before: new Map(), now: new Map() };

  return {
    isKept: true,
    signal: undefined,
    async write(event) {
      // A decision is known from the beginning here, so that nobody is asked for it.
      if (event.type === "approval-asked") return;
      end ??= compare(recorded[next++], event, shown);
      if (end !== undefined) throw end;
    },
    send(event) {
      end ??= compare(recorded[next++], event, shown);
    },
    async whenSent() {
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

/** The tools that the model was shown, and those that it is shown now, each with a digest. */
interface Shown {
  readonly before: Map<string, string>;
  readonly now: Map<string, string>;
}

function compare(expected: KeptEvent | undefined, found: KeptEvent, shown: Shown): ReplayEnd | undefined {
  if (expected === undefined) return new ReplayEnd(undefined);
  const step = "step" in expected ? expected.step : 0;
  const difference =
    findDifference("something else happens", expected.type, found.type) ??
    (expected.type === "model-answer" ? compareAnswers(expected, found as ModelAnswered, shown) : undefined) ??
    (expected.type === "message-added" && "message" in found
      ? findDifference("the agent says something else", expected.message, found.message)
      : undefined);
  return difference && new ReplayEnd({ step, ...difference });
}

type Difference = Omit<Divergence, "step"> | undefined;

function compareAnswers(expected: ModelAnswered, found: ModelAnswered, shown: Shown): Difference {
  addToolChanges(shown.before, expected);
  addToolChanges(shown.now, found);
  return (
    findDifference("other skills are open", expected.skills, found.skills) ??
    compareTools(expected, found, shown) ??
    comparePrompts(expected.prompt, found.prompt)
  );
}

/** A run that was made from another with something changed does not say what the model was shown up to there. */
function comparePrompts(expected: string | undefined, found: string | undefined): Difference {
  if (expected === undefined) return undefined;
  const [messages, system] = expected.split(".");
  const [messagesNow, systemNow] = (found ?? "").split(".");
  return (
    findDifference("the model is shown another system text", system, systemNow) ??
    findDifference("the model is shown another conversation", messages, messagesNow)
  );
}

/** Says which tools are others, if the journal says which there were. */
function compareTools({ tools: expected }: ModelAnswered, { tools: found }: ModelAnswered, shown: Shown): Difference {
  const what = "the model is shown other tools";
  const difference = findDifference(what, expected, found);
  const changes = difference && describeToolChanges(shown.before, shown.now);
  if (changes === undefined) return difference;
  return { what: `${what}: ${changes}`, expected: nameTools(shown.before), found: nameTools(shown.now) };
}

function nameTools(tools: ReadonlyMap<string, string>): string {
  return [...tools.keys()].join(", ") || "none";
}

function findDifference(what: string, before: unknown, now: unknown): Difference {
  const [expected = "nothing", found = "nothing"] = [before, now].map((value) => JSON.stringify(value));
  return expected === found ? undefined : { what, expected, found };
}
