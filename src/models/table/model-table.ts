import { loadKnownModels } from "../prices/known-models.ts";
import { costOf, type TokenPrice } from "../prices/token-price.ts";

/** A model that `choose` can choose. */
export interface ListedModel {
  /** As `resolveModel` takes it: `openai/gpt-6-sol`. */
  readonly name: string;
  readonly provider: string;
  /** Whether it sees images. */
  readonly vision: boolean;
  /** Whether it calls tools. */
  readonly tools: boolean;
  /** How many tokens it reads; `undefined` if that is not known. */
  readonly context: number | undefined;
  /** From 1 to 5, as its maker ranks it among its own and its age says. Our judgement, and not a measurement. */
  readonly quality: number;
  /** From 1 to 5, by its size among those of its maker. Our judgement, and not a measurement. */
  readonly speed: number;
  /** US dollars for a million tokens, three of four read and one written, in a prompt of this length. */
  costAt(promptTokens: number): number;
}

/**
 * What is offered: the name, how good and how fast. Images and tools are what the documentation of the providers' packages says
 * (all of these have both); context and prices come from the data of `@pydantic/genai-prices`. Models of which that package
 * knows nothing yet are not in the list.
 */
const rows: readonly (readonly [name: string, quality: number, speed: number])[] = [
  ["openai/gpt-6-astra", 5, 1],
  ["openai/gpt-6-sol", 4, 3],
  ["openai/gpt-6-luna", 3, 5],
  ["openai/gpt-5.6-sol", 4, 2],
  ["openai/gpt-5.6-terra", 3, 3],
  ["openai/gpt-5.6-luna", 2, 4],
  ["openai/gpt-5.4-mini", 2, 4],
  ["openai/gpt-5.4-nano", 1, 5],
  ["openai/gpt-4.1", 1, 3],
  ["openai/gpt-4.1-mini", 1, 4],
  ["anthropic/claude-fable-5-1", 5, 1],
  ["anthropic/claude-opus-5-5", 5, 2],
  ["anthropic/claude-sonnet-5", 4, 3],
  ["anthropic/claude-haiku-4-5", 2, 4],
  ["google/gemini-3.1-pro-preview", 4, 2],
  ["google/gemini-3.8-flash", 3, 4],
  ["google/gemini-3.5-flash-lite", 2, 5],
  ["google/gemini-2.5-pro", 2, 2],
  ["google/gemini-2.5-flash", 1, 4],
  ["google/gemini-2.5-flash-lite", 1, 5],
];

/** Loads the table of models, with the prices of `now`. */
export async function loadModelTable(now: Date): Promise<ListedModel[]> {
  const known = await loadKnownModels();
  return rows.flatMap(([name, quality, speed]) => {
    const slash = name.indexOf("/");
    const provider = name.slice(0, slash);
    const found = known.find(provider, name.slice(slash + 1));
    const price = found?.priceAt(now);
    if (found === undefined || price === undefined) return [];
    const { contextWindow: context } = found;
    const costAt = (tokens: number): number => costOfMillion(price, tokens);
    return [{ name, provider, vision: true, tools: true, context, quality, speed, costAt }];
  });
}

/** Long prompts may cost more for each token: the price is that of this length. */
function costOfMillion(price: TokenPrice, promptTokens: number): number {
  const input = Math.max(3, Math.round(promptTokens));
  const output = input / 3;
  const cost = costOf(price, {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  });
  return ((cost ?? Infinity) / (input + output)) * 1e6;
}
