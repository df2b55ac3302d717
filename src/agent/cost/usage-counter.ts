import type { ModelUsage } from "../../models/model.ts";
import type { RunUsage } from "./run-usage.ts";

/** Counts what a run uses. */
export interface UsageCounter {
  /** Adds an answer, with what it cost if that is known, and what to take it for against a limit if it is not. */
  addAnswer(usage: ModelUsage, cost: number | undefined, assumed?: number): void;
  addCall(): void;
  /** Adds an answer of a run that is gone on with: whoever asked for it has counted it in the parent. */
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
