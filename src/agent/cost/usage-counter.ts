import type { ModelMessage, ModelUsage } from "../../models/model.ts";
import type { CountedAnswer, ModelAnswered } from "../events.ts";
import type { ModelView } from "../exposure/exposure.ts";
import type { RunUsage } from "../run-result.ts";

/** Counts what a run uses. */
export interface UsageCounter {
  /** Adds an answer, with its cost if that is known, and an assumed cost against a limit if it is not. */
  addAnswer(usage: ModelUsage, cost: number | undefined, assumed?: number): void;
  addCall(): void;
  /** Adds an answer from the journal of a resumed run: its parent has already counted it. */
  addPastAnswer(usage: ModelUsage, cost: number | undefined, assumed?: number): void;
  addPastCalls(calls: number): void;
  usage(): RunUsage;
  /** Input and output together. */
  tokens(): number;
  /** In US dollars; `undefined` as soon as the price of one answer is not known. */
  cost(): number | undefined;
  /** What counts against a limit: answers whose price is not known count as what they were taken for, and endless if for nothing. */
  spent(): number;
}

/** Makes a counter. `parent` counts with it: that of the agent. */
export function createUsageCounter(parent?: UsageCounter): UsageCounter {
  const counts = {
    inputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    modelCalls: 0,
    toolCalls: 0,
  };
  let total: number | undefined = 0;
  let spent = 0;

  function addPastAnswer(usage: ModelUsage, cost: number | undefined, assumed?: number): void {
    const { inputTokens, outputTokens } = usage;
    counts.inputTokens += toTokenCount(inputTokens.total);
    counts.cacheReadTokens += toTokenCount(inputTokens.cacheRead);
    counts.cacheWriteTokens += toTokenCount(inputTokens.cacheWrite);
    counts.outputTokens += toTokenCount(outputTokens.total);
    counts.reasoningTokens += toTokenCount(outputTokens.reasoning);
    counts.modelCalls += 1;
    total = cost === undefined || total === undefined ? undefined : total + cost;
    spent += cost ?? assumed ?? Infinity;
  }

  return {
    addAnswer(usage, cost, assumed) {
      addPastAnswer(usage, cost, assumed);
      parent?.addAnswer(usage, cost, assumed);
    },
    addPastAnswer,
    addCall() {
      counts.toolCalls += 1;
      parent?.addCall();
    },
    addPastCalls(calls) {
      counts.toolCalls += calls;
    },
    usage: () => ({ ...counts }),
    tokens: () => counts.inputTokens + counts.outputTokens,
    cost: () => total,
    spent: () => spent,
  };
}

/** Tokens as a provider says them; nothing if it does not, or says what is no number of tokens. */
export function toTokenCount(tokens: number | undefined): number {
  return typeof tokens === "number" && tokens >= 0 && tokens <= Number.MAX_SAFE_INTEGER ? tokens : 0;
}

/** What tokens are spent on. */
export type CostKind = "model" | "instructions" | "conversation" | "skill" | "tool";

/**
 * One row of what a run used.
 *
 * The rows of kind `model` hold the numbers of the providers, and add up to those of the run. All other rows divide the same tokens by
 * purpose, and add up to the same sum; they are estimates, to be shown with "≈". A message is paid for again with every later
 * question: a result of 100 tokens before 9 questions costs 900.
 */
export interface CostRow {
  readonly kind: CostKind;
  /** `provider/model`, the address of a tool, the name of a skill. */
  readonly name: string;
  /** Of a tool: the skill or component that it belongs to. */
  readonly skill?: string;
  /** How often the model was asked, the tool called, the skill opened, closed or read. */
  readonly calls: number;
  readonly inputTokens: number;
  /** Of the input: the definitions of tools. */
  readonly schemaTokens: number;
  /** The part of the input for results of calls; for a skill, its instructions. */
  readonly resultTokens: number;
  /** What the model wrote: of a tool, the input of its calls. */
  readonly outputTokens: number;
  /** In US dollars; not there if the price of an answer is not known. */
  readonly cost?: number;
  readonly isEstimate: boolean;
}

/** A question that was asked: only references, so that it costs nothing until a cost report is requested. */
export interface Question {
  readonly answer: Pick<ModelAnswered, "model" | "content" | "usage" | "cost"> & Pick<CountedAnswer, "estimate">;
  /** What the model was shown of the conversation: the first `count` of these. */
  readonly messages: readonly ModelMessage[];
  readonly count: number;
  /** The system text and the tools; absent where they were not kept, as in a journal. */
  readonly view?: ModelView;
}
