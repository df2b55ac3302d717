import type { JsonValue } from "../core/json.ts";
import type { ToolOutcome } from "../core/outcome.ts";
import type { ModelCall } from "../models/model.ts";
import type { ModelAnswered, TaskStart } from "./events.ts";
import type { RunResult } from "./run-result.ts";

/** A call that a model asks for. */
export interface AgentCall {
  readonly run: string;
  readonly step: number;
  /** As the model named it. */
  readonly id: string;
  /** The address of the tool; the name that the model gave if no such tool exists. */
  readonly tool: string;
  readonly input: JsonValue;
}

/** What a hook says about a call before it is made: another input, no, or what came of it without making it. */
export type CallVerdict =
  | undefined
  | { readonly input: JsonValue }
  | { readonly deny: string }
  | { readonly outcome: ToolOutcome };

/** What a hook says about a question before the model is asked: what to ask instead. */
export type ModelVerdict = undefined | Partial<Omit<ModelCall, "abortSignal">>;

/** What a hook says about an answer: nothing, or that the model is to be asked again. */
export type AnswerVerdict = void | undefined | "again";

/** What a hook says about what came of a call: nothing, another outcome, or the input with which it is to be made again. */
export type OutcomeVerdict = void | undefined | ToolOutcome | { readonly again: JsonValue };

/**
 * What is called around a run, its steps, its questions and its calls.
 *
 * **Contract**: each hook may be asynchronous, and the run waits for it until the run is stopped. A hook that throws, or answers with
 * an unexpected value, ends the run with `hook-failed`; what is already in the journal stays. After a crash the hooks are called again
 * for unfinished calls, with the input that the model gave; without `beforeCall`, a call is made with the input of the journal. The
 * approver is shown the input that `beforeCall` returns, and a call is made only with the input that was approved.
 */
export interface AgentHooks {
  onRunStart?(start: TaskStart): unknown;
  onRunEnd?(result: RunResult): unknown;
  onStepStart?(step: { readonly run: string; readonly step: number }): unknown;
  onStepEnd?(step: { readonly run: string; readonly step: number }): unknown;
  beforeModel?(
    call: ModelCall,
    step: { readonly run: string; readonly step: number },
  ): ModelVerdict | Promise<ModelVerdict>;
  /** May have the model asked again; the answer counts as one that was paid for. */
  afterModel?(answer: ModelAnswered): AnswerVerdict | Promise<AnswerVerdict>;
  /** Asked when a model could not answer; what it says changes nothing. */
  onModelError?(error: unknown, step: { readonly run: string; readonly step: number }): unknown;
  beforeCall?(call: AgentCall): CallVerdict | Promise<CallVerdict>;
  /** Told what the call was made with. May put another outcome in the place of what came of the call, or have it made again. */
  afterCall?(call: AgentCall, outcome: ToolOutcome): OutcomeVerdict | Promise<OutcomeVerdict>;
}
