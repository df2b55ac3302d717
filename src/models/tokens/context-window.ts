import type { Model } from "../model.ts";
import { knownModels } from "../prices/known-models.ts";
import { createNameTable, type FindByName } from "../prices/name-table.ts";
import { providerOf, providerRow } from "../providers.ts";
import { serverLinkOf } from "../servers/server-link.ts";

/** Context windows of your own, in tokens, by `provider/model` or a beginning of it with `*` behind. */
export type ContextWindows = Readonly<Record<string, number>>;

/** The smallest window of each model family, for models that are missing in the data. */
const families: readonly (readonly [start: string, tokens: number])[] = [
  ["chatgpt-4o*", 128_000],
  ["claude*", 200_000],
  ["codestral*", 128_000],
  ["command-a*", 256_000],
  ["command-r*", 128_000],
  ["deepseek*", 128_000],
  ["gemini*", 1_048_576],
  ["gpt-3.5*", 16_385],
  ["gpt-4*", 8192],
  ["gpt-4-turbo*", 128_000],
  ["gpt-4.1*", 1_047_576],
  ["gpt-4o*", 128_000],
  ["gpt-5*", 400_000],
  ["gpt-6*", 400_000],
  ["grok*", 131_072],
  ["kimi*", 128_000],
  ["mistral*", 128_000],
  ["o1*", 128_000],
  ["o3*", 200_000],
  ["o4*", 200_000],
];
const findFamily = createNameTable(families);

/** Windows by model, as far as they were looked for after the data about models had been loaded. */
const found = new WeakMap<Model, number | undefined>();
const ownTables = new WeakMap<ContextWindows, FindByName<number>>();

/**
 * How many tokens fit into a model's context window, with those of its answer; `undefined` if unknown, as for a server
 * of your own that was not asked yet.
 *
 * The data about models is not loaded for this: `createPriceOf` does so. Before, only families of models are known.
 *
 * @example
 * ```ts
 * import { contextWindowOf, resolveModel } from "kitbag/models";
 *
 * const model = await resolveModel("anthropic/claude-sonnet-4-5", { apiKey: "none" });
 * console.assert(contextWindowOf(model) === 200_000);
 * console.assert(contextWindowOf(model, { "anthropic/*": 50_000 }) === 50_000);
 * ```
 */
export function contextWindowOf(model: Model, own?: ContextWindows): number | undefined {
  const given = own && findOwn(own, model);
  if (given !== undefined) return given;
  const link = serverLinkOf(model);
  if (link !== undefined) return link.window();
  if (found.has(model)) return found.get(model);
  const known = knownModels();
  const window = providerRow(model).isFree === true ? undefined : findWindow(model);
  if (known !== undefined) found.set(model, window);
  return window;
}

function findOwn(own: ContextWindows, model: Model): number | undefined {
  let find = ownTables.get(own);
  if (find === undefined) {
    find = createNameTable(Object.entries(own).filter(([, tokens]) => tokens > 0));
    ownTables.set(own, find);
  }
  return find(`${providerOf(model)}/${model.modelId}`);
}

function findWindow(model: Model): number | undefined {
  const { modelId } = model;
  const window = knownModels()?.find(providerOf(model), modelId)?.contextWindow;
  // Some name the maker of a model before it: "anthropic/claude-…".
  return window ?? windowOfFamily(modelId);
}

/** The smallest window of the family that a model belongs to by its name; `undefined` if the family is not known. */
export function windowOfFamily(modelId: string): number | undefined {
  return findFamily(modelId.slice(modelId.lastIndexOf("/") + 1).toLowerCase());
}
