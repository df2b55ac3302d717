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

/** A hook's verdict on a call before it is made: another input, a denial, or an outcome in place of the call. */
export type CallVerdict =
  | undefined
  | { readonly input: JsonValue }
  | { readonly deny: string }
  | { readonly outcome: ToolOutcome };

/** A hook's changes to a question before the model is asked. */
export type ModelVerdict = undefined | Partial<Omit<ModelCall, "abortSignal">>;

/** A hook's verdict on an answer: accept it, or ask the model again. */
export type AnswerVerdict = void | undefined | "again";

/** A hook's verdict on an outcome: accept it, replace it, or repeat the call with another input. */
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
  /** May have the model asked again; the rejected answer still counts towards cost and limits. */
  afterModel?(answer: ModelAnswered): AnswerVerdict | Promise<AnswerVerdict>;
  /** Called when a model could not answer; its return value is ignored. */
  onModelError?(error: unknown, step: { readonly run: string; readonly step: number }): unknown;
  beforeCall?(call: AgentCall): CallVerdict | Promise<CallVerdict>;
  /** Receives the actual input of the call. May replace the outcome, or have the call made again. */
  afterCall?(call: AgentCall, outcome: ToolOutcome): OutcomeVerdict | Promise<OutcomeVerdict>;
}
