import type { Model, ModelUsage } from "../model.ts";
import { loadKnownModels, type KnownModel, type KnownModels } from "./known-models.ts";
import type { FindByName } from "./name-table.ts";
import { createOwnPrices, type OwnPrices } from "./own-prices.ts";
import { isFree, providerOf } from "./provider-names.ts";
import { costOf, type TokenPrice } from "./token-price.ts";

/** What an answer of a model costs, in US dollars; `undefined` if nobody knows. */
export type PriceOf = (modelId: string, usage: ModelUsage) => number | undefined;

/** How {@link createPriceOf} finds prices. */
export interface PriceOptions {
  /** Prices of your own: they go first. */
  readonly prices?: OwnPrices;
  /** Milliseconds since 1970: prices change with time. @default Date.now */
  readonly now?: () => number;
}

/**
 * Makes what tells the price of a model's answers. Prices come with the package, and nothing is asked over the network; those of
 * cached input, of reasoning and of long inputs are looked at, and those that change with the day or the hour.
 *
 * Kitbag's own models and those of Ollama and LM Studio cost nothing. A price that is not known is `undefined` and never 0, and so is
 * that of an answer whose usage the provider does not tell. Searches and other things that a provider does beside answering are
 * not counted.
 *
 * @throws {KitbagError} (rejects) `option-invalid` if a price of your own is none.
 *
 * @example
 * ```ts
 * import { createPriceOf, resolveModel } from "kitbag/models";
 *
 * const model = await resolveModel("openai-compatible:http://127.0.0.1:8000/v1/qwen3");
 * const priceOf = await createPriceOf(model, { prices: { "openai-compatible/*": { input: 0.5, output: 2 } } });
 *
 * const cost = priceOf("qwen3", {
 *   inputTokens: { total: 10_000, noCache: 10_000, cacheRead: 0, cacheWrite: 0 },
 *   outputTokens: { total: 1000, text: 1000, reasoning: 0 },
 * });
 * console.assert(cost === 0.007);
 * ```
 */
export async function createPriceOf(model: Model, options: PriceOptions = {}): Promise<PriceOf> {
  const { prices = {}, now = Date.now } = options;
  const findOwn = createOwnPrices(prices);
  const provider = providerOf(model);
  const isOwn = findOwn(`${provider}/${model.modelId}`) !== undefined;
  if (isFree(model) && !isOwn) return () => 0;
  return createLookup({ model, provider, findOwn, known: isOwn ? undefined : await loadKnownModels(), now });
}

interface LookupParts {
  readonly model: Model;
  readonly provider: string;
  readonly findOwn: FindByName<TokenPrice>;
  /** Not there if the price of the model is one's own. */
  readonly known: KnownModels | undefined;
  readonly now: () => number;
}

/** A price that was found, and how long it is good. */
interface Found {
  readonly price: TokenPrice | undefined;
  readonly untilMs: number;
}

/** Prices that change are looked at anew this often. */
const datedMs = 60_000;
/** An answer says who gave it: as many names as that are remembered. */
const maxNames = 100;

function createLookup(parts: LookupParts): PriceOf {
  const byModel = new Map<string, Found>();
  return (modelId, usage) => {
    let found = byModel.get(modelId);
    if (found === undefined || (found.untilMs !== Infinity && found.untilMs <= parts.now())) {
      found = find(parts, modelId);
      if (byModel.size >= maxNames) byModel.clear();
      byModel.set(modelId, found);
    }
    return found.price && costOf(found.price, usage);
  };
}

function find({ model, provider, findOwn, known, now }: LookupParts, modelId: string): Found {
  const own = findOwn(`${provider}/${modelId}`);
  if (own !== undefined) return { price: own, untilMs: Infinity };
  // Providers answer with the name of a version. If that is not known, it costs what was asked for.
  const isVersion = modelId !== model.modelId && modelId.startsWith(model.modelId);
  const ownOfAsked = isVersion ? findOwn(`${provider}/${model.modelId}`) : undefined;
  if (ownOfAsked !== undefined) return { price: ownOfAsked, untilMs: Infinity };
  const of = known?.find(provider, modelId) ?? (isVersion ? known?.find(provider, model.modelId) : undefined);
  return of === undefined ? { price: undefined, untilMs: Infinity } : priceNow(of, now());
}

function priceNow(known: KnownModel, timeMs: number): Found {
  const price = known.priceAt(new Date(timeMs));
  return { price, untilMs: known.isDated ? timeMs + datedMs : Infinity };
}
