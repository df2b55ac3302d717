import { loadKnownModels } from "../prices/known-models.ts";
import { costOf, type TokenPrice } from "../prices/token-price.ts";
import { windowOfFamily } from "../tokens/context-window.ts";

/** A model that `choose` can choose. */
export interface ListedModel {
  /** As `resolveModel` takes it: `openai/gpt-6-sol`. */
  readonly name: string;
  readonly provider: string;
  /** Whether it sees images. */
  readonly vision: boolean;
  /** Whether it calls tools. */
  readonly tools: boolean;
  /** Whether it holds an answer to a schema. */
  readonly structuredOutput: boolean;
  /** How many tokens it reads; where that is not known, the least that models of its family read; `undefined` if that is not known. */
  readonly context: number | undefined;
  /** From 1 to 5, as its maker ranks it among its own and its age says. Our judgement, and not a measurement. */
  readonly quality: number;
  /** From 1 to 5, by its size among those of its maker. Our judgement, and not a measurement. */
  readonly speed: number;
  /** What its server says about it. */
  readonly note?: string;
  /**
   * US dollars for a million tokens, three of four read and one written, in a prompt of this length; `undefined` if its price is not
   * known.
   */
  costAt(promptTokens: number): number | undefined;
}

type Row = readonly [name: string, quality: number, speed: number, lacks?: "tools"];

/**
 * What is offered, by provider and the newest first: the name, how good and how fast. Images, tools and schemas are what the
 * documentation of the providers' packages says (`lacks` tools: schemas too); context and prices come from the data of `@pydantic/genai-prices`.
 */
const rows: readonly Row[] = [
  ["openai/gpt-6-astra", 5, 1],
  ["openai/gpt-6.1-sol", 4, 3],
  ["openai/gpt-6.1-terra", 3, 4],
  ["openai/gpt-6-sol", 4, 3],
  ["openai/gpt-6-luna", 3, 5],
  ["openai/gpt-5.6", 4, 2],
  ["openai/gpt-5.6-sol", 4, 2],
  ["openai/gpt-5.6-terra", 3, 3],
  ["openai/gpt-5.6-luna", 2, 4],
  ["openai/gpt-5.5", 3, 2],
  ["openai/gpt-5.4-pro", 4, 1],
  ["openai/gpt-5.4", 3, 2],
  ["openai/gpt-5.4-mini", 2, 4],
  ["openai/gpt-5.4-nano", 1, 5],
  ["openai/gpt-5.3-codex", 3, 2],
  ["openai/gpt-5.3-chat-latest", 2, 3],
  ["openai/gpt-5.2-pro", 3, 1],
  ["openai/gpt-5.2", 2, 2],
  ["openai/gpt-5.2-codex", 2, 2],
  ["openai/gpt-5.2-chat-latest", 2, 3],
  ["openai/gpt-5.1", 2, 2],
  ["openai/gpt-5.1-codex", 2, 2],
  ["openai/gpt-5.1-codex-max", 2, 1],
  ["openai/gpt-5.1-codex-mini", 1, 3],
  ["openai/gpt-5.1-chat-latest", 1, 3],
  ["openai/gpt-5-pro", 2, 1],
  ["openai/gpt-5", 2, 2],
  ["openai/gpt-5-codex", 2, 2],
  ["openai/gpt-5-mini", 1, 3],
  ["openai/gpt-5-nano", 1, 4],
  ["openai/gpt-5-chat-latest", 1, 3, "tools"],
  ["openai/gpt-4.1", 1, 3],
  ["openai/gpt-4.1-mini", 1, 4],
  ["openai/gpt-4.1-nano", 1, 4],
  ["anthropic/claude-fable-5-2", 5, 1],
  ["anthropic/claude-fable-5-1", 5, 1],
  ["anthropic/claude-fable-5", 5, 1],
  ["anthropic/claude-opus-5-5", 5, 2],
  ["anthropic/claude-opus-5", 4, 2],
  ["anthropic/claude-sonnet-5-5", 4, 3],
  ["anthropic/claude-sonnet-5", 4, 3],
  ["anthropic/claude-haiku-5-5", 3, 5],
  ["anthropic/claude-opus-4-8", 4, 2],
  ["anthropic/claude-opus-4-7", 3, 2],
  ["anthropic/claude-opus-4-6", 3, 2],
  ["anthropic/claude-sonnet-4-6", 3, 3],
  ["anthropic/claude-opus-4-5", 3, 2],
  ["anthropic/claude-sonnet-4-5", 2, 3],
  ["anthropic/claude-haiku-4-5", 2, 4],
  ["google/gemini-4-argon", 4, 3],
  ["google/gemini-4-carbon", 4, 3],
  ["google/gemini-3.8-flash", 3, 4],
  ["google/gemini-3.7-flash", 3, 4],
  ["google/gemini-3.6-flash", 3, 4],
  ["google/gemini-3.5-flash", 2, 4],
  ["google/gemini-3.5-flash-lite", 2, 5],
  ["google/gemini-3.1-pro-preview", 4, 2],
  ["google/gemini-3.1-flash-lite-preview", 1, 5],
  ["google/gemini-3-pro-preview", 3, 2],
  ["google/gemini-3-flash-preview", 2, 4],
  ["google/gemini-2.5-pro", 2, 2],
  ["google/gemini-2.5-flash", 1, 4],
  ["google/gemini-2.5-flash-lite", 1, 4],
];

/** Names of the providers' packages that are not offered: each row says why. */
const others: readonly (readonly [names: RegExp, why: string])[] = [
  [/-(?:\d{8}|\d{4}-\d\d-\d\d|\d{3}|\d\d-\d{4})$/u, "a dated version of another"],
  [/^gemini-(?:pro|flash|flash-lite)-latest$|^gemini-3\.1-pro-preview-customtools$/u, "another name of a newer one"],
  [/audio|tts|image|banana|live|transcribe|search|research|computer-use|robotics|^aqa$/u, "made for something else"],
  [/^(?:gpt-3\.5-turbo|gpt-4o|o[134])(?:-|$)/u, "a newer one is better and costs no more"],
  [/^claude-(?:opus-4-[01]|sonnet-4-0|3-haiku)/u, "a newer one is better and costs no more"],
  [/^gemini-2\.0-flash|^gemma-3n?-/u, "a newer one is better"],
];

/** Why a model of a provider's package is not offered; `undefined` if it is, or if there is nothing to say about it. */
export function whyNotOffered(name: string): string | undefined {
  if (rows.some(([listed]) => listed === name)) return undefined;
  const id = name.slice(name.indexOf("/") + 1);
  return others.find(([names]) => names.test(id))?.[1];
}

/** The names of a provider's models that suit a tiny question, the best first: small ones, and the newest of these. */
export function listProbes(provider: string): readonly string[] {
  const own = rows.filter(([name]) => name.startsWith(`${provider}/`));
  return own.toSorted((left, right) => right[2] - left[2]).map(([name]) => name);
}

/** Loads the table of models, with the prices of `now`. */
export async function loadModelTable(now: Date): Promise<ListedModel[]> {
  const known = await loadKnownModels();
  return rows.map(([name, quality, speed, lacks]) => {
    const slash = name.indexOf("/");
    const [provider, id] = [name.slice(0, slash), name.slice(slash + 1)];
    const found = known.find(provider, id);
    const price = found?.priceAt(now);
    return {
      name,
      provider,
      vision: true,
      tools: lacks === undefined,
      structuredOutput: lacks === undefined,
      context: found?.contextWindow ?? windowOfFamily(id),
      quality,
      speed,
      costAt: (tokens) => price && costOfMillion(price, tokens),
    };
  });
}

/** Long prompts may cost more for each token: the price is that of this length. */
function costOfMillion(price: TokenPrice, promptTokens: number): number | undefined {
  const input = Math.max(3, Math.round(promptTokens));
  const output = input / 3;
  const cost = costOf(price, {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  });
  return cost === undefined ? undefined : (cost / (input + output)) * 1e6;
}
