import type { ModelUsage } from "../../models/model.ts";
import type { RunUsage } from "./run-usage.ts";

/** Counts what a run uses. */
export interface UsageCounter {
  /** Adds an answer, with what it cost if that is known. */
  addAnswer(usage: ModelUsage, cost: number | undefined): void;
  addCall(): void;
  usage(): RunUsage;
  /** Input and output together. */
  tokens(): number;
  /** In US dollars; `undefined` as soon as the price of one answer is not known. */
  cost(): number | undefined;
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

  return {
    addAnswer(usage, cost) {
      const { inputTokens, outputTokens } = usage;
      counts.inputTokens += inputTokens.total ?? 0;
      counts.cacheReadTokens += inputTokens.cacheRead ?? 0;
      counts.cacheWriteTokens += inputTokens.cacheWrite ?? 0;
      counts.outputTokens += outputTokens.total ?? 0;
      counts.reasoningTokens += outputTokens.reasoning ?? 0;
      counts.modelCalls += 1;
      total = cost === undefined || total === undefined ? undefined : total + cost;
      parent?.addAnswer(usage, cost);
    },
    addCall() {
      counts.toolCalls += 1;
      parent?.addCall();
    },
    usage: () => ({ ...counts }),
    tokens: () => counts.inputTokens + counts.outputTokens,
    cost: () => total,
  };
}
