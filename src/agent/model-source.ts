import { KitbagError } from "../core/errors.ts";
import type { Model, ModelMessage, ModelUsage } from "../models/model.ts";
import { estimateCost } from "../models/prices/estimate-cost.ts";
import { serverLinkOf } from "../models/servers/server-link.ts";
import type { PriceOf } from "../models/prices/price-of.ts";
import type { AgentOptions } from "./agent-options.ts";

/** A model that is ready to be asked, and what it costs. */
export interface ReadyModel {
  readonly model: Model;
  /** `provider/model`. */
  readonly name: string;
  readonly priceOf: PriceOf;
}

/** Where an agent gets its models from. */
export interface ModelSource {
  /**
   * Finds a model, by name or as it is; at once if it was found before.
   *
   * @throws {KitbagError} whatever `resolveModel` and `asModel` do.
   */
  get(model: Model | string): ReadyModel | Promise<ReadyModel>;
}

/** Makes the source of an agent's models: each is made ready once. */
export function createModelSource(options: AgentOptions): ModelSource {
  const ready = new Map<Model | string, ReadyModel>();
  return {
    get: (model) => ready.get(model) ?? prepare(model, options, ready),
  };
}

async function prepare(
  given: Model | string,
  { retries, prices = {} }: AgentOptions,
  ready: Map<Model | string, ReadyModel>,
): Promise<ReadyModel> {
  const { resolveModel } = await import("../models/resolve/resolve-model.ts");
  const { asModel } = await import("../models/shims/as-model.ts");
  const { withSafeIds } = await import("../models/shims/call-ids.ts");
  const { withOutput } = await import("../models/output/with-output.ts");
  const { withRetries } = await import("../models/retry/with-retries.ts");
  const { withImages } = await import("../models/images/with-images.ts");
  const { createPriceOf } = await import("../models/prices/price-of.ts");
  const found = withOutput(typeof given === "string" ? await resolveModel(given) : withSafeIds(asModel(given)));
  // What a server of one's own reads is known before the first conversation is too long for it.
  await serverLinkOf(found)?.look();
  const model = withImages(retries === false ? found : withRetries(found, retries));
  const made = { model, name: `${model.provider}/${model.modelId}`, priceOf: await createPriceOf(model, { prices }) };
  ready.set(given, made);
  return made;
}

/** Tells whether showing a text to a model fits into `left` US dollars: not if it is certain to cost more, or the price is unknown. */
export function canAfford({ model, priceOf }: ReadyModel, text: string, left: number): boolean {
  const messages: ModelMessage[] = [{ role: "user", content: [{ type: "text", text }] }];
  const { least } = estimateCost(model, priceOf, { messages });
  return least !== undefined && least <= left;
}

/** @throws {KitbagError} `price-unknown` if a run has a cost limit and the price of its model is unknown. */
export function requirePrice({ model, name, priceOf }: ReadyModel, maxCost: number): void {
  if (maxCost === Infinity) return;
  const usage: ModelUsage = {
    inputTokens: { total: 1000, noCache: 1000, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1000, text: 1000, reasoning: 0 },
  };
  if (priceOf(model.modelId, usage) === undefined) throw new KitbagError("price-unknown", { model: name });
}
