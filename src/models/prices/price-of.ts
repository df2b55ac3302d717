import type { Model, ModelUsage } from "../model.ts";
import { knownModels, loadKnownModels, type KnownModel } from "./known-models.ts";
import type { FindByName } from "./name-table.ts";
import { createOwnPrices, type OwnPrices } from "./own-prices.ts";
import { providerOf, providerRow } from "../providers.ts";
import { costOf, type TokenPrice } from "./token-price.ts";

/**
 * The price of a model's answer in US dollars; `undefined` if it is unknown. `modelId` is the model id that the provider reports. If
 * the model is a `fallback` or `balance` of several, `by` is the one that answered, as `provider/model`; both report it in
 * `providerMetadata.kitbag.model`.
 */
export type PriceOf = (modelId: string, usage: ModelUsage, by?: string) => number | undefined;

/** How {@link createPriceOf} finds prices. */
export interface PriceOptions {
  /** Prices of your own: they go first. */
  readonly prices?: OwnPrices;
  /** Milliseconds since 1970: prices change with time. @default Date.now */
  readonly now?: () => number;
}

/**
 * Makes a function that computes the price of a model's answers. The prices come with the package, without network requests. They
 * include the rates for cached input, reasoning and long inputs, and rates that depend on the day or the hour.
 *
 * Kitbag's own models and those of Ollama and LM Studio cost nothing. An unknown price is `undefined` and never 0, and so is the price
 * of an answer without reported usage. Searches and other extra services of a provider are not counted.
 *
 * @throws {KitbagError} (rejects) `option-invalid` if a price of your own is malformed.
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
  const parts: LookupParts = { findOwn: createOwnPrices(prices), now };
  const asked = { provider: providerOf(model), modelId: model.modelId };
  const isOwn = parts.findOwn(`${asked.provider}/${asked.modelId}`) !== undefined;
  if (!isOwn && providerRow(model).isFree !== true) await loadKnownModels();
  return createLookup(parts, asked);
}

interface LookupParts {
  readonly findOwn: FindByName<TokenPrice>;
  readonly now: () => number;
}

/** The model that was asked. */
interface Asked {
  readonly provider: string;
  readonly modelId: string;
}

/** A price that was found, and how long it is good. */
interface Found {
  readonly price: TokenPrice | "free" | undefined;
  readonly untilMs: number;
}

/** How often prices that change with time are computed again. */
const datedMs = 60_000;
/** An answer says who gave it: as many names as that are remembered. */
const maxNames = 100;

function createLookup(parts: LookupParts, asked: Asked): PriceOf {
  const byName = new Map<string, Found>();
  return (modelId, usage, by) => {
    const name = by === undefined ? modelId : `${by} ${modelId}`;
    let found = byName.get(name);
    if (found === undefined || (found.untilMs !== Infinity && found.untilMs <= parts.now())) {
      found = find(parts, by === undefined ? asked : parseAsked(by), modelId);
      if (byName.size >= maxNames) byName.clear();
      byName.set(name, found);
    }
    if (found.price === "free") return 0;
    return found.price && costOf(found.price, usage);
  };
}

function parseAsked(name: string): Asked {
  const end = name.indexOf("/");
  return { provider: name.slice(0, Math.max(0, end)), modelId: name.slice(end + 1) };
}

function find({ findOwn, now }: LookupParts, { provider, modelId: askedId }: Asked, modelId: string): Found {
  // Providers answer with the name of a version. If that is not known, it costs what was asked for.
  const names = modelId !== askedId && modelId.startsWith(askedId) ? [modelId, askedId] : [modelId];
  for (const name of names) {
    const own = findOwn(`${provider}/${name}`);
    if (own !== undefined) return { price: own, untilMs: Infinity };
  }
  if (providerRow({ provider }).isFree === true) return { price: "free", untilMs: Infinity };
  const known = knownModels();
  if (known === undefined) {
    // Only a model that is several can come here, and not one of Kitbag's: those see to it. The next answer is known.
    void loadKnownModels();
    return { price: undefined, untilMs: now() };
  }
  for (const name of names) {
    const model = known.find(provider, name);
    if (model !== undefined) return priceNow(model, now());
  }
  return { price: undefined, untilMs: Infinity };
}

function priceNow(known: KnownModel, timeMs: number): Found {
  const price = known.priceAt(new Date(timeMs));
  return { price, untilMs: known.isDated ? timeMs + datedMs : Infinity };
}
