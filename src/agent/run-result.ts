import type { Failure } from "../core/errors.ts";
import type { JsonValue } from "../core/json.ts";
import type { ModelMessage } from "../models/model.ts";

/** Why a run stopped before its task was done. */
export type StopReason = "steps" | "tokens" | "cost" | "time" | "calls" | "loop" | "cancelled" | "lost";

/** What is known of every run, however it ended. */
interface RunFacts {
  readonly run: string;
  /** The last text of the model; empty if it said nothing. */
  readonly text: string;
  /** Why the last answer ended, as its provider says it: `stop`, `length`, `content-filter` …; `undefined` before the first answer. */
  readonly finishReason: string | undefined;
  /** How often the model was asked. */
  readonly steps: number;
  readonly usage: RunUsage;
  /** In US dollars; `undefined` if the price of a model is not known. */
  readonly cost: number | undefined;
  /** Skills that were open at its end. */
  readonly skills: readonly string[];
  /** The conversation with this run, as the model sees it now: earlier messages may be left out, see `docs/guide/memory.md`. */
  readonly messages: readonly ModelMessage[];
}

/** What only runs have that ended in one way; the others do not have it. */
interface OtherEnds {
  readonly output?: undefined;
  readonly reason?: undefined;
  readonly error?: undefined;
  readonly approvals?: undefined;
}

/** A run whose task is done. */
export interface OkRun<Output = JsonValue> extends RunFacts, Omit<OtherEnds, "output"> {
  readonly status: "ok";
  /** A value of the output schema; the text of the answer if the agent has no output schema. */
  readonly output: Output;
}

/** A run that failed. */
export interface FailedRun extends RunFacts, Omit<OtherEnds, "error"> {
  readonly status: "failed";
  readonly error: Failure;
}

/** A run that was stopped, or was lost to another process. */
export interface StoppedRun extends RunFacts, Omit<OtherEnds, "reason" | "error"> {
  readonly status: "stopped";
  readonly reason: StopReason;
  /** Why it was lost. */
  readonly error?: Failure;
}

/** A run whose answer is not whole: the output limit cut it off, more often than `maxContinuations` allows. */
export interface CutRun extends RunFacts, Omit<OtherEnds, "error"> {
  readonly status: "cut";
  readonly error: Failure;
}

/** A run without an answer: the model refused, or its provider filtered the answer. */
export interface RefusedRun extends RunFacts, Omit<OtherEnds, "error"> {
  readonly status: "refused";
  readonly error: Failure;
}

/** A run that has not ended: it waits for an approval. */
export interface PausedRun extends RunFacts, Omit<OtherEnds, "approvals"> {
  readonly status: "paused";
  /** The approvals that it waits for. */
  readonly approvals: readonly string[];
}

/** How a run ended: `status` says in which way, and what else there is to know of it. */
export type RunResult<Output = JsonValue> = OkRun<Output> | FailedRun | StoppedRun | CutRun | RefusedRun | PausedRun;

/** What a run used, counted as the providers say it. */
export interface RunUsage {
  readonly inputTokens: number;
  /** Of the input: read from the provider's cache, and written to it. */
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** Of the output. */
  readonly reasoningTokens: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
}
