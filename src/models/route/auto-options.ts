import type { Model } from "../model.ts";
import type { ChooseOptions, ModelNeeds } from "../table/choose.ts";

/** What `auto` chooses by, beside what a run or a question needs. */
export interface AutoOptions extends ModelNeeds, Pick<ChooseOptions, "available"> {}

const options = new WeakMap<object, AutoOptions>();

/** Says what a model is chosen by. */
export function setAutoOptions(model: Model, given: AutoOptions): Model {
  options.set(model, given);
  return model;
}

/** What a model of `auto` is chosen by; `undefined` for every other model, and for a name. */
export function autoOptionsOf(model: Model | string): AutoOptions | undefined {
  return typeof model === "string" ? undefined : options.get(model);
}
