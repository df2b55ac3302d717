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
