import type { Model } from "../model.ts";
import { loadKnownModels } from "../prices/known-models.ts";
import { providerOf, providerRow } from "../providers.ts";
import { windowOfFamily } from "../tokens/context-window.ts";

/** Says how a model is treated that the data about models does not know; `undefined` if it is known, or costs nothing. */
export async function describeUnknown(model: Pick<Model, "provider" | "modelId">): Promise<string | undefined> {
  const provider = providerOf(model);
  if (providerRow(model).isFree === true) return undefined;
  const known = (await loadKnownModels()).find(provider, model.modelId);
  const family = windowOfFamily(model.modelId);
  const window =
    family === undefined
      ? "its context window is not known"
      : `its context window is taken as ${family.toLocaleString("en-US")} tokens, the smallest of its family`;
  const found = [
    ...(known?.contextWindow === undefined ? [window] : []),
    ...(known?.priceAt(new Date()) === undefined
      ? ["its price is not known, so it cannot be used with a limit in dollars"]
      : []),
  ];
  return found.length === 0 ? undefined : found.join("; ");
}
