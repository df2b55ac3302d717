import type { ConditionalPrice, ModelInfo, ModelPrice } from "@pydantic/genai-prices";

import { providerRow } from "../providers.ts";
import type { Rate, TokenPrice } from "./token-price.ts";

/** What is known about a model. */
export interface KnownModel {
  readonly contextWindow: number | undefined;
  /** Whether its price changes with the day or the hour. */
  readonly isDated: boolean;
  /** What it costs at a time; `undefined` if it is not paid by the token. */
  priceAt(time: Date): TokenPrice | undefined;
}

/** Models that are known, once the data about them is loaded. */
export interface KnownModels {
  /** Finds a model of a provider, as `resolveModel` names it. */
  find(provider: string, modelId: string): KnownModel | undefined;
}

let loading: Promise<KnownModels> | undefined;
let loaded: KnownModels | undefined;

/** Loads what is known about models: data that came with the package, and nothing over the network. Once, however often asked. */
export function loadKnownModels(): Promise<KnownModels> {
  loading ??= load();
  return loading;
}

/** The table of known models, if it is already loaded. */
export function knownModels(): KnownModels | undefined {
  return loaded;
}

async function load(): Promise<KnownModels> {
  const { calcPrice, findProvider } = await import("@pydantic/genai-prices");
  loaded = {
    find(provider, modelId) {
      const providerId = providerRow(provider).pricedAs ?? provider;
      // Looked at by its whole name: the package takes "openai-compatible" for OpenAI, whose prices are not those of any server.
      if (findProvider({ providerId })?.id !== providerId) return undefined;
      const model = calcPrice({}, modelId, { providerId })?.model;
      return model && toKnown(model, (timestamp) => calcPrice({}, modelId, { providerId, timestamp })?.model_price);
    },
  };
  return loaded;
}

function toKnown(model: ModelInfo, pricesAt: (time: Date) => ModelPrice | undefined): KnownModel {
  return {
    contextWindow: model.context_window,
    isDated: Array.isArray(model.prices) && (model.prices as readonly ConditionalPrice[]).length > 1,
    priceAt(time) {
      const prices = pricesAt(time);
      return prices && toPrice(prices, model.id);
    },
  };
}

const free: TokenPrice = { input: 0, output: 0 };

/** Reads a table entry as a price. An empty entry means an unknown price, except for models whose id ends with `:free`. */
function toPrice(prices: ModelPrice, modelId: string): TokenPrice | undefined {
  const input = toRate(prices["input_mtok"]);
  const output = toRate(prices["output_mtok"]);
  if (input === undefined && output === undefined) {
    return Object.keys(prices).length === 0 && modelId.endsWith(":free") ? free : undefined;
  }
  const { requests_kcount: questions } = prices;
  return {
    input: input ?? 0,
    output: output ?? 0,
    cacheRead: toRate(prices["cache_read_mtok"]),
    cacheWrite: toRate(prices["cache_write_mtok"]),
    cacheWriteHour: toRate(prices["cache_write_1h_mtok"]),
    reasoning: toRate(prices["output_reasoning_mtok"]),
    question: typeof questions === "number" ? questions / 1000 : undefined,
  };
}

function toRate(price: ModelPrice[string]): Rate | undefined {
  if (price === undefined || typeof price === "number") return price;
  const steps = price.tiers.map(({ start, price: rate }) => ({ above: start, rate }));
  return { base: price.base, steps: steps.toSorted((left, right) => left.above - right.above) };
}
