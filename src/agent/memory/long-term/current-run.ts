import { AsyncLocalStorage } from "node:async_hooks";

import { toRecallWords } from "./rank-texts.ts";
import type { MemorySource, MemoryTrust } from "./memory-rows.ts";

/** The run in which something is remembered, and what was said in it so far. */
export interface CurrentRun {
  readonly source: MemorySource;
  /** What the user said, message by message. */
  said(): readonly string[];
  /** What tools answered with. */
  read(): readonly string[];
}

/**
 * Tells the tools of the memory from which run they are called. A value that is passed along would have to be passed by every tool
 * that calls them; a tool that is called outside of a run has none.
 */
const runs = new AsyncLocalStorage<CurrentRun>();

/** Does `work`, which is part of a run. */
export function duringRun<Result>(run: CurrentRun, work: () => Result): Result {
  return runs.run(run, work);
}

/** The run that this is part of, if it is part of one. */
export function currentRun(): CurrentRun | undefined {
  return runs.getStore();
}

/** What of the words of a fact must be in the answers of tools for it to be theirs. */
const readShare = 0.6;

/**
 * Who said a fact: the user, if one message of the user has all its words; else the tools of the run, if their answers have most of them;
 * else the model. Outside of a run nothing is known, and it is the model's.
 */
export function judgeTrust(fact: string, run: CurrentRun | undefined): MemoryTrust {
  const words = new Set(toRecallWords(fact));
  if (run === undefined || words.size === 0) return "model";
  if (run.said().some((text) => shareIn(words, text) === 1)) return "user";
  return shareIn(words, run.read().join("\n")) >= readShare ? "tool" : "model";
}

function shareIn(words: ReadonlySet<string>, text: string): number {
  const said = new Set(toRecallWords(text));
  return [...words].filter((word) => said.has(word)).length / words.size;
}
