import type { Failure } from "../core/errors.ts";
import type { CallEvent } from "../core/events.ts";
import type { GuardAct } from "../core/guards.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { ToolOutcome } from "../core/outcome.ts";
import type { ModelContent, ModelMessage, ModelUsage } from "../models/model.ts";
import type { RunResult, RunUsage } from "./run-result.ts";

/**
 * The events of an agent's run, in order. Events that end in `-delta`, `call-event`, `child-event` and `model-loading` go only to
 * listeners; all others are also written to the journal, if there is one, before they take effect.
 */
export type AgentEvent =
  | TaskStart
  | { readonly type: "step-start"; readonly run: string; readonly step: number }
  | { readonly type: "text-delta"; readonly run: string; readonly step: number; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly run: string; readonly step: number; readonly text: string }
  | ToolInputDelta
  | ModelLoading
  | ModelAnswered
  | ModelRetry
  | AnswerDropped
  | ToolStart
  | CallChanged
  | { readonly type: "call-event"; readonly run: string; readonly id: string; readonly event: CallEvent }
  | ToolEnd
  | CallSpent
  | MessageAdded
  | ApprovalAsked
  | ApprovalDecided
  | GuardActed
  | MemoryCompacted
  | AgentChanged
  | ChildEvent
  | TaskEnd;

/** A run begins. */
export interface TaskStart {
  readonly type: "task-start";
  readonly run: string;
  /** `provider/model`. */
  readonly model: string;
  /** The name of the model, if one was asked for by name for this run alone. */
  readonly requestedModel?: string;
  /** Limits of this run alone. */
  readonly limits?: Partial<RunLimits>;
  /** What the conversation had before, and what is asked now. */
  readonly messages: readonly ModelMessage[];
  /** How many of `messages` were there before this run. */
  readonly earlier: number;
  readonly conversation?: string;
  readonly user?: string;
  /** Skills that are open from the beginning. */
  readonly skills: readonly string[];
  /** What the answer must be like, if it must be JSON. */
  readonly output?: JsonObject;
  /** What the agent was told to keep about where its runs come from. */
  readonly origin?: JsonObject;
  /** The run that waits for this one, and the call in it (`step.call`): this is the run of a sub-agent. */
  readonly parent?: { readonly run: string; readonly call: string };
  /** The addresses of the tools from the agent of the outermost run to the agent of this one, if that is another. */
  readonly path?: readonly string[];
  /** The run that this one was made from, and the step up to which it is the same. */
  readonly forkOf?: { readonly run: string; readonly step: number };
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** A model writes the input of a call. */
export interface ToolInputDelta {
  readonly type: "tool-input-delta";
  readonly run: string;
  readonly step: number;
  readonly id: string;
  readonly tool: string;
  readonly text: string;
}

/** A server of your own loads the model into memory, and answers after that. Told every second. */
export interface ModelLoading {
  readonly type: "model-loading";
  readonly run: string;
  readonly step: number;
  /** `provider/model`. */
  readonly model: string;
  readonly elapsedMs: number;
  readonly sizeBytes?: number;
}

/** A model has answered. */
export interface ModelAnswered {
  readonly type: "model-answer";
  readonly run: string;
  readonly step: number;
  /** `provider/model`, as the provider says who answered. */
  readonly model: string;
  readonly content: readonly ModelContent[];
  readonly finishReason: string;
  /** The tool whose call the output limit cut off, if the provider left that call out of `content`. */
  readonly cutCall?: string;
  readonly usage: ModelUsage;
  /** In US dollars; absent if the price is unknown. */
  readonly cost?: number;
  readonly durationMs: number;
  /** Digests of what the model was shown: of the messages, and of the tools. Only where there is a journal. */
  readonly prompt?: string;
  readonly tools?: string;
  /** The tools that are new or changed since the last question, each with its digest; `null` for removed tools. */
  readonly toolChanges?: Readonly<Record<string, string | null>>;
  /** Skills that were open when it was asked. */
  readonly skills: readonly string[];
  /** The question for which it was given before, if it comes from the cache of answers: the model was not asked. */
  readonly recalled?: string;
  /** What the provider ignored, in words: settings that this model does not support. */
  readonly warnings?: readonly string[];
  /** Parts of the answer whose type Kitbag does not know. */
  readonly unknown?: readonly JsonValue[];
}

/** A model did not answer, and is asked again. */
export interface ModelRetry {
  readonly type: "model-retry";
  readonly run: string;
  readonly step: number;
  readonly error: Failure;
}

/** A hook had the model asked again: its answer is no part of the conversation, and was paid for. */
export interface AnswerDropped {
  readonly type: "answer-dropped";
  readonly run: string;
  readonly step: number;
  readonly answer: CountedAnswer;
}

/** A tool that a model asked for is about to be called. */
export interface ToolStart {
  readonly type: "tool-start";
  readonly run: string;
  readonly step: number;
  /** Of the call, as the model named it. */
  readonly id: string;
  /** Its address; the name that the model gave if no such tool exists. */
  readonly tool: string;
  readonly input: JsonValue;
  /** What had to be repaired in the input, in words. */
  readonly repairs?: readonly string[];
}

/** A hook, the debugger or the approver changed the input that the model gave. Told before the call is made. */
export interface CallChanged {
  readonly type: "call-changed";
  readonly run: string;
  readonly step: number;
  /** `step.call`: what comes of it is recorded under this name. */
  readonly call: string;
  readonly id: string;
  readonly tool: string;
  /** Without what looks like a secret. */
  readonly input: JsonValue;
  /** Set if that is not all of it: the call cannot be made again from here. */
  readonly redacted?: true;
}

/** The outcome of a call. */
export interface ToolEnd {
  readonly type: "tool-end";
  readonly run: string;
  readonly step: number;
  readonly id: string;
  readonly tool: string;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
  /** Set when the outcome comes from the journal and not from a call. */
  readonly recalled?: true;
}

/** What a call cost besides the answers of the run's own model. Told before its outcome. */
export interface CallSpent {
  readonly type: "call-spent";
  readonly run: string;
  readonly step: number;
  /** `step.call`. */
  readonly call: string;
  readonly id: string;
  readonly tool: string;
  /** What its tools say that they paid, and what the runs of sub-agents cost, in US dollars; absent if a price is unknown. */
  readonly cost?: number;
  /** What the runs of sub-agents used, if there were any. */
  readonly usage?: RunUsage;
}

/** The agent adds a message of its own, or the caller steers the run while it works. */
export interface MessageAdded {
  readonly type: "message-added";
  readonly run: string;
  readonly step: number;
  readonly reason: "continue" | "loop" | "output" | "steering" | "tools";
  readonly message: ModelMessage;
}

/** A call waits for approval. */
export interface ApprovalAsked {
  readonly type: "approval-asked";
  readonly run: string;
  readonly step: number;
  /** `run:step.call`: the name to give to `decide`. */
  readonly approval: string;
  readonly id: string;
  readonly tool: string;
  readonly input: JsonValue;
  /** Why a guard wants it to be asked about. */
  readonly reason?: string;
}

/** A guard took something out, put something else in its place, refused it, or had a person asked. It says nothing of what it saw. */
export interface GuardActed extends GuardAct {
  readonly type: "guard-acted";
  readonly run: string;
  readonly step: number;
}

/** A call was approved or denied. */
export interface ApprovalDecided {
  readonly type: "approval-decided";
  readonly run: string;
  readonly approval: string;
  readonly decision: "approve" | "deny";
  readonly reason?: string;
  /** What to call the tool with instead. */
  readonly input?: JsonValue;
  readonly user?: string;
  /** Proves that a holder of the audit's key decided so about exactly this call. */
  readonly seal?: string;
}

/** Messages were left out or summarised, so that the conversation fits the context window. */
export interface MemoryCompacted {
  readonly type: "memory-compacted";
  readonly run: string;
  readonly step: number;
  readonly how: "window" | "extractive" | "model" | "hybrid";
  /** What the model sees from now on in the place of the messages before. */
  readonly messages: readonly ModelMessage[];
  /** As they are estimated, without the system text and the tools. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** What a model used that was asked for a summary. */
  readonly answer?: CountedAnswer;
  /** Why sentences were picked, though a model was to be asked. */
  readonly error?: Failure;
}

/** What a model used for an answer that is no part of the conversation. */
export interface CountedAnswer {
  /** `provider/model`. */
  readonly model: string;
  readonly usage: ModelUsage;
  /** In US dollars; absent if the price is unknown. */
  readonly cost?: number;
  /** About what it had if the provider does not say, because it failed: for limits, and not for what is shown. */
  readonly estimate?: TokenEstimate;
}

/** About how many tokens a question and its answer had. */
export interface TokenEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Another agent goes on with the conversation: it was handed over. */
export interface AgentChanged {
  readonly type: "agent-changed";
  readonly run: string;
  readonly step: number;
  /** The handoff: `step.call`, and its address. */
  readonly call: string;
  readonly tool: string;
  /** The agent's model, as `provider/model`. */
  readonly model: string;
}

/**
 * An event of the run of a sub-agent, on any level below. `run` is that run; its `task-start` says which run waits for it. Goes only to
 * listeners: the run of a sub-agent has a journal of its own.
 */
export interface ChildEvent {
  readonly type: "child-event";
  readonly run: string;
  readonly event: Exclude<AgentEvent, ChildEvent>;
}

/** The run has ended, or is paused. */
export interface TaskEnd {
  readonly type: "task-end";
  readonly run: string;
  readonly result: RunResult;
}

/**
 * What a run may use; each limit is checked before the model is asked. What counts of a run that is resumed is what it has used from its
 * beginning on.
 */
export interface RunLimits {
  /** How often the model is asked, also when a hook has it asked again. @default 50 */
  readonly maxSteps: number;
  /** Input and output together. @default none */
  readonly maxTokens: number;
  /**
   * In US dollars. A question that is certain to cost more is not asked; an answer can still exceed the limit. A model with an
   * unknown price is refused when there is a limit. @default none
   */
  readonly maxCost: number;
  /**
   * Working time: a run that waits for an approval, or to be resumed, does not use up its time. A model, a tool or a hook that
   * still runs when the time is up is stopped. @default none
   */
  readonly maxMs: number;
  /** Calls of tools. None of the calls of an answer is made if together they are too many. @default 1000 */
  readonly maxCalls: number;
  /** How many calls of one answer run at the same time. @default 8 */
  readonly maxParallel: number;
  /** How many levels of sub-agents may be below the run. @default 5 */
  readonly maxDepth: number;
  /** How often in a row the model is asked to go on with an answer that the output limit cut off. Can be 0. @default 3 */
  readonly maxContinuations: number;
}
