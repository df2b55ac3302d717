import type { ToolOutcome } from "../../core/outcome.ts";

/** What to do about calls that lead nowhere: tell the model, then stop. */
export type LoopFinding = { readonly kind: "nudge" | "stop"; readonly what: string } | undefined;

/** Finds out whether a model goes round in circles. */
export interface LoopDetector {
  /** Adds a finished call. */
  note(call: NotedCall): void;
  /** After the calls of a step: whether they lead anywhere. */
  check(): LoopFinding;
}

/** A finished call. */
export interface NotedCall {
  readonly tool: string;
  readonly inputText: string;
  readonly outcome: ToolOutcome;
  /** Whether its tool only reads; `false` if it says that it changes something: then it leads somewhere also without news. */
  readonly readOnly: boolean | undefined;
}

/** How often the same calls may be repeated until the model is warned, and until the run is stopped. */
const nudgeAt = 3;
const stopAt = 6;
/** The same for calls that fail in a row. */
const nudgeAtFailures = 8;
const stopAtFailures = 16;
/** In so many steps in a row a tool that only reads may say the same, whatever it is asked; one that may do more, twice as often. */
const nudgeAtSilent = 8;
const stopAtSilent = 16;
/** The longest circle that is looked for. */
const longestCircle = 4;

/**
 * Makes a detector. The same call with the same outcome counts, a tool that has nothing new to say, and calls that fail: to ask again
 * until something is ready is no circle.
 */
export function createLoopDetector(): LoopDetector {
  const recent: NotedCall[] = [];
  /** What the last steps have in common, and how many they are. */
  let silent: NotedCall | undefined;
  let silentSteps = 0;
  let failures = 0;
  let told = "";

  return {
    note(call) {
      const changes = call.readOnly === false;
      if (changes || silent === undefined || !isSameAnswer(call, silent)) {
        silent = changes ? undefined : call;
        silentSteps = 0;
      }
      recent.push(call);
      if (recent.length > longestCircle * stopAt) recent.shift();
      failures = call.outcome.status === "failed" ? failures + 1 : 0;
    },
    check() {
      silentSteps += 1;
      const found = findCircle(recent) ?? findFailures(failures) ?? findSilence(silent, silentSteps);
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

function findSilence(silent: NotedCall | undefined, steps: number): LoopFinding {
  const patience = silent?.readOnly === true ? 1 : 2;
  if (silent === undefined || steps < nudgeAtSilent * patience) return undefined;
  const what = `${silent.tool} is called again and again, and whatever it is asked the outcome is the same`;
  return { kind: steps >= stopAtSilent * patience ? "stop" : "nudge", what };
}

function findCircle(recent: readonly NotedCall[]): LoopFinding {
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
function countRepeats(recent: readonly NotedCall[], length: number): number {
  let same = 0;
  for (let index = recent.length - 1; index - length >= 0; index--) {
    if (!isSame(recent[index] as NotedCall, recent[index - length] as NotedCall)) break;
    same += 1;
  }
  return Math.floor(same / length) + 1;
}

function isSame(left: NotedCall, right: NotedCall): boolean {
  return left.inputText === right.inputText && isSameAnswer(left, right);
}

function isSameAnswer({ tool, outcome }: NotedCall, { tool: otherTool, outcome: other }: NotedCall): boolean {
  if (tool !== otherTool) return false;
  // This runs for every call: most differ in a number or a text, and need not be written as JSON.
  if (outcome.status === "ok" && other.status === "ok" && typeof outcome.output !== "object") {
    return outcome.output === other.output;
  }
  return JSON.stringify(outcome) === JSON.stringify(other);
}
