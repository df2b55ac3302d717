import { isRecord } from "../../core/json.ts";
import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Model, ModelCall } from "../model.ts";
import { wrapModel } from "../shims/wrap-model.ts";

/** What a model is told with every question, unless the question says something else. */
export interface ModelSettings {
  /** How much chance there is in the answer. What the numbers mean differs between providers: mostly 0 to 1 or 0 to 2. */
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxOutputTokens?: number;
  /** How much it thinks before it answers. */
  readonly reasoning?: NonNullable<ModelCall["reasoning"]>;
  /** Texts that end the answer when the model writes them. */
  readonly stop?: readonly string[];
  /** The same seed gives the same answer, where the provider can do so. */
  readonly seed?: number;
  /** Options that only one provider knows, by its name. */
  readonly providerOptions?: NonNullable<ModelCall["providerOptions"]>;
}

const efforts: readonly string[] = ["provider-default", "none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** What each setting must be; `undefined` if it is. */
const checks: { readonly [Name in keyof ModelSettings]-?: (value: unknown) => string | undefined } = {
  temperature: (value) => (isNumber(value, 0) ? undefined : "a number of at least 0"),
  topP: (value) => (isNumber(value, 0) && (value as number) <= 1 ? undefined : "a number from 0 to 1"),
  topK: (value) => (Number.isSafeInteger(value) && isNumber(value, 1) ? undefined : "a whole number of at least 1"),
  maxOutputTokens: (value) =>
    Number.isSafeInteger(value) && isNumber(value, 1) ? undefined : "a whole number of at least 1",
  reasoning: (value) => (efforts.includes(value as string) ? undefined : `one of ${efforts.join(", ")}`),
  stop: (value) => (isTexts(value) ? undefined : "a list of texts that are not empty"),
  seed: (value) => (Number.isSafeInteger(value) ? undefined : "a whole number"),
  providerOptions: (value) =>
    isRecord(value) && Object.values(value as object).every(isRecord) ? undefined : "objects by the name of a provider",
};

/**
 * Gives a model settings that hold for every question. What a question says itself goes before them; options of providers are
 * put together, name by name.
 *
 * @example
 * ```ts
 * import { resolveModel, withSettings } from "kitbag/models";
 *
 * const model = await resolveModel("ollama/qwen3");
 * const careful = withSettings(model, { temperature: 0, seed: 7, maxOutputTokens: 2000, stop: ["END"] });
 *
 * console.assert(careful.modelId === "qwen3");
 * ```
 *
 * @throws {KitbagError} `option-invalid`
 */
export function withSettings(model: Model, settings: ModelSettings): Model {
  const defaults = toDefaults(settings);
  const complete = (call: ModelCall): ModelCall => {
    const whole: ModelCall = { ...defaults, ...withoutGaps(call) };
    if (defaults.providerOptions !== undefined && call.providerOptions !== undefined) {
      whole.providerOptions = mergeOptions(defaults.providerOptions, call.providerOptions);
    }
    return whole;
  };
  return wrapModel(model, {
    doGenerate: (call) => model.doGenerate(complete(call)),
    doStream: (call) => model.doStream(complete(call)),
  });
}

function toDefaults(settings: ModelSettings): Partial<ModelCall> {
  for (const [name, value] of Object.entries(settings)) {
    const check = Object.hasOwn(checks, name) ? checks[name as keyof ModelSettings] : () => expectedName(name);
    const expected = value === undefined ? undefined : check(value);
    if (expected !== undefined) {
      throw new KitbagError("option-invalid", { option: `settings.${name}`, found: describe(value), expected });
    }
  }
  const { stop, ...rest } = settings;
  return { ...withoutGaps(rest), ...(stop === undefined ? {} : { stopSequences: [...stop] }) };
}

function expectedName(name: string): string {
  const names = Object.keys(checks);
  const [nearest] = nearestNames(name, names);
  return nearest === undefined ? `one of ${names.join(", ")}` : `"${nearest}", or another setting that there is`;
}

/** Without what is `undefined`: it would hide what stands behind it. */
function withoutGaps<Value extends object>(value: Value): Value {
  for (const key in value) {
    if (value[key] === undefined)
      return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Value;
  }
  return value;
}

type ProviderOptions = NonNullable<ModelCall["providerOptions"]>;

function mergeOptions(first: ProviderOptions, second: ProviderOptions): ProviderOptions {
  const merged: ProviderOptions = { ...first };
  for (const [name, options] of Object.entries(second)) merged[name] = { ...merged[name], ...options };
  return merged;
}

function isNumber(value: unknown, least: number): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= least;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === "string" && text !== "");
}

function describe(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : `a value of type ${typeof value}`;
}
