import type { ModelUsage } from "../model.ts";

/** A price in US dollars for a million tokens: one, or one that rises with the length of the input. */
export type Rate = number | SteppedRate;

/** A price that is another one once the input is longer than `above` tokens. */
export interface SteppedRate {
  readonly base: number;
  /** From the shortest to the longest. */
  readonly steps: readonly { readonly above: number; readonly rate: number }[];
}

/** What the tokens of a model cost. What is left out costs what it is a part of. */
export interface TokenPrice {
  readonly input: Rate;
  readonly output: Rate;
  /** Of the input. */
  readonly cacheRead?: Rate | undefined;
  readonly cacheWrite?: Rate | undefined;
  /** What is kept for an hour instead of five minutes; of `cacheWrite`. */
  readonly cacheWriteHour?: Rate | undefined;
  /** Of the output. */
  readonly reasoning?: Rate | undefined;
  /** For each question, in US dollars. */
  readonly question?: number | undefined;
}

/** The tokens of one answer, all of them whole. The input has the cached ones in it, the output the reasoning. */
interface Tokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWriteHour: number;
  readonly output: number;
  readonly reasoning: number;
}

/** What an answer costs, in US dollars; `undefined` if its usage does not say how many tokens it took. */
export function costOf(price: TokenPrice, usage: ModelUsage): number | undefined {
  const tokens = readTokens(usage);
  if (tokens === undefined) return undefined;
  const { input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning } = tokens;
  const writeRate = price.cacheWrite ?? price.input;
  const parts =
    (input - cacheRead - cacheWrite) * rateAt(price.input, input) +
    cacheRead * rateAt(price.cacheRead ?? price.input, input) +
    (cacheWrite - cacheWriteHour) * rateAt(writeRate, input) +
    cacheWriteHour * rateAt(price.cacheWriteHour ?? writeRate, input) +
    (output - reasoning) * rateAt(price.output, input) +
    reasoning * rateAt(price.reasoning ?? price.output, input);
  return parts / 1e6 + (price.question ?? 0);
}

function rateAt(rate: Rate, input: number): number {
  if (typeof rate === "number") return rate;
  let found = rate.base;
  for (const { above, rate: next } of rate.steps) if (input > above) found = next;
  return found;
}

function readTokens({ inputTokens, outputTokens, raw }: ModelUsage): Tokens | undefined {
  const cacheRead = toCount(inputTokens?.cacheRead) ?? 0;
  const cacheWrite = toCount(inputTokens?.cacheWrite) ?? 0;
  const reasoning = toCount(outputTokens?.reasoning) ?? 0;
  const input = toWhole(inputTokens?.total, inputTokens?.noCache, cacheRead + cacheWrite);
  const output = toWhole(outputTokens?.total, outputTokens?.text, reasoning);
  if (input === undefined || output === undefined) return undefined;
  const cacheWriteHour = cacheWrite === 0 ? 0 : Math.min(cacheWrite, hourOf(raw));
  return { input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning };
}

/** The total, if it or the rest is reported. A part that is larger than the total wins: the price covers at least the parts. */
function toWhole(total: number | undefined, rest: number | undefined, part: number): number | undefined {
  const whole = toCount(total);
  if (whole !== undefined) return Math.max(whole, part);
  const other = toCount(rest);
  return other === undefined ? undefined : other + part;
}

/** Tokens that were said: what is no number, less than nothing or more than can be counted was not. */
function toCount(value: number | undefined): number | undefined {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

/** Anthropic says only in its own words what is kept for an hour. */
function hourOf(raw: ModelUsage["raw"]): number {
  const written: unknown = raw?.["cache_creation"];
  if (typeof written !== "object" || written === null) return 0;
  const { ephemeral_1h_input_tokens: hour } = written as { readonly ephemeral_1h_input_tokens?: number };
  return toCount(hour) ?? 0;
}
