import type { ToolOutcome } from "../../core/outcome.ts";

/** What to do about calls that lead nowhere: tell the model, then stop. */
export type LoopFinding = { readonly kind: "nudge" | "stop"; readonly what: string } | undefined;

/** Finds out whether a model goes round in circles. */
export interface LoopDetector {
  /** Takes a call that is over. */
  note(tool: string, inputText: string, outcome: ToolOutcome): void;
  /** After the calls of a step: whether they lead anywhere. */
  check(): LoopFinding;
}

/** So often the same may happen before the model is told, and before it is stopped. */
const nudgeAt = 3;
const stopAt = 6;
/** So many calls in a row may fail. */
const nudgeAtFailures = 8;
const stopAtFailures = 16;
/** The longest circle that is looked for. */
const longestCircle = 4;

interface Noted {
  readonly tool: string;
  readonly inputText: string;
  readonly outcome: ToolOutcome;
}

/** Makes a detector. Only the same call with the same outcome counts: to ask again until something is ready is no circle. */
export function createLoopDetector(): LoopDetector {
  const recent: Noted[] = [];
  let failures = 0;
  let told = "";

  return {
    note(tool, inputText, outcome) {
      recent.push({ tool, inputText, outcome });
      if (recent.length > longestCircle * stopAt) recent.shift();
      failures = outcome.status === "failed" ? failures + 1 : 0;
    },
    check() {
      const found = findCircle(recent) ?? findFailures(failures);
      if (found === undefined) {
        told = "";
        return undefined;
      }
      if (found.kind === "nudge" && told === found.what) return undefined;
      told = found.what;
      return found;
    },
  };
}

function findFailures(failures: number): LoopFinding {
  if (failures < nudgeAtFailures) return undefined;
  const what = "the calls fail one after the other";
  return { kind: failures >= stopAtFailures ? "stop" : "nudge", what };
}

function findCircle(recent: readonly Noted[]): LoopFinding {
  for (let length = 1; length <= longestCircle; length++) {
    const times = countRepeats(recent, length);
    if (times < nudgeAt) continue;
    // In an order of its own: the same circle ends with another of its calls each time.
    const tools = recent
      .slice(-length)
      .map(({ tool }) => tool)
      .toSorted();
    const what =
      length === 1
        ? `${tools[0]} is called again and again with the same input, and the outcome is the same`
        : `${tools.join(", ")} are called in turn with the same inputs, and the outcomes are the same`;
    return { kind: times >= stopAt ? "stop" : "nudge", what };
  }
  return undefined;
}

/** How often the last `length` calls are there one after the other, at the end. */
function countRepeats(recent: readonly Noted[], length: number): number {
  let same = 0;
  for (let index = recent.length - 1; index - length >= 0; index--) {
    if (!isSame(recent[index] as Noted, recent[index - length] as Noted)) break;
    same += 1;
  }
  return Math.floor(same / length) + 1;
}

function isSame(left: Noted, right: Noted): boolean {
  return (
    left.tool === right.tool &&
    left.inputText === right.inputText &&
    JSON.stringify(left.outcome) === JSON.stringify(right.outcome)
  );
}
