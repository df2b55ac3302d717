import type { Model } from "../model.ts";
import { loadKnownModels } from "../prices/known-models.ts";
import { providerOf } from "../prices/provider-names.ts";

/** How many tokens a model reads, as far as is known. */
export async function findContextWindow(model: Model): Promise<number | undefined> {
  const known = await loadKnownModels();
  return known.find(providerOf(model), model.modelId)?.contextWindow;
}
