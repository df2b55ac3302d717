import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { checkOptionNames } from "../check-option-names.ts";
import type { Model, ModelCall } from "../model.ts";
import { loadKnownModels } from "../prices/known-models.ts";
import { providerOf } from "../providers.ts";
import { machineClock, toAbortError } from "../../platform/clock.ts";
import {
  isModelError,
  isModelErrorCode,
  type ModelError,
  type ModelErrorCode,
  toModelError,
} from "../retry/to-model-error.ts";
import { wrapParts } from "../shims/wrap-model.ts";
import {
  askCandidate,
  type Candidate,
  checkModels,
  findSharedUrls,
  generateCandidate,
  toCandidates,
} from "./candidate.ts";

/** What is known when the next model is asked. */
export interface Fallback {
  /** The model that failed, as `provider/model`. */
  readonly from: string;
  readonly to: string;
  readonly error: ModelError;
}

/** When {@link fallback} asks the next model. */
export interface FallbackOptions {
  /**
   * The failures after which the next model is asked, or what decides about each.
   *
   * @default `model-overloaded`, `model-unavailable`, `model-timeout` and `model-context-exceeded`. A question that a provider
   * does not accept (`model-refused`) is wrong for the next one too, and a wrong key (`model-denied`) should be seen, not hidden.
   */
  readonly on?: readonly ModelErrorCode[] | ((error: ModelError) => boolean);
  /** Told before the next model is asked. Must not throw. */
  readonly onFallback?: (fallback: Fallback) => void;
  /** How many tokens a model reads, if that is known. @default what the table of models says */
  readonly contextOf?: (model: Model) => number | undefined;
}

const usual: readonly ModelErrorCode[] = [
  "model-overloaded",
  "model-unavailable",
  "model-timeout",
  "model-context-exceeded",
];

/**
 * Makes one model of several: each question goes to the first, and to the next one when that fails before it has shown anything.
 *
 * Every question starts with the first model again. After an overlong prompt, only models with a larger or unknown context window are
 * asked. Provider-specific parts are removed from the prompt for other providers. `providerMetadata.kitbag.model` at the end of the
 * answer names the model that answered. When all models fail, the error is that of the last one.
 *
 * @example
 * ```ts
 * import { fallback, resolveModel, withRetries } from "kitbag/models";
 *
 * const model = fallback([
 *   withRetries(await resolveModel("ollama/qwen3"), { maxRetries: 1 }),
 *   await resolveModel("lmstudio/llama-4"),
 * ]);
 *
 * console.assert(model.modelId === "qwen3");
 * ```
 *
 * @throws {KitbagError} `option-invalid`, `model-unsupported`; when it is asked (rejects) what the last model does.
 */
export function fallback(models: readonly Model[], options: FallbackOptions = {}): Model {
  checkModels(models);
  checkOptionNames(options, ["on", "onFallback", "contextOf"]);
  const [first, ...rest] = toCandidates(models) as [Candidate, ...Candidate[]];
  const { on = usual, onFallback } = options;
  checkCodes(on);
  const isWanted = typeof on === "function" ? on : (error: ModelError) => on.includes(error.code);

  const tryAll = async <Answer>(call: ModelCall, ask: (candidate: Candidate) => Promise<Answer>): Promise<Answer> => {
    const left = [...rest];
    for (let candidate = first; ;) {
      try {
        return await ask(candidate);
      } catch (cause) {
        if (call.abortSignal?.aborted === true) throw toAbortError(call.abortSignal.reason);
        const error = toModelError(candidate.model, cause);
        if (!isModelError(error) || !isWanted(error)) throw error;
        const next = await pickNext(candidate, left, error, options);
        if (next === undefined) throw error;
        onFallback?.({ from: candidate.name, to: next.name, error });
        candidate = next;
      }
    }
  };
  const described = {
    provider: first.model.provider,
    modelId: first.model.modelId,
    get supportedUrls() {
      return findSharedUrls(models);
    },
  };
  return wrapParts(described, {
    doGenerate: (call) => tryAll(call, (candidate) => generateCandidate(candidate, call)),
    ask: (call) => tryAll(call, (candidate) => askCandidate(candidate, call, machineClock)),
  });
}

/** @throws {KitbagError} `option-invalid` */
function checkCodes(on: unknown): void {
  if (typeof on === "function" || (Array.isArray(on) && on.every(isModelErrorCode))) return;
  const expected = `a function, or a list of codes such as ${usual.join(", ")}`;
  throw new KitbagError("option-invalid", { option: "on", found: showValue(on), expected });
}

/** Takes the next one from those that are left. */
async function pickNext(
  failed: Candidate,
  left: Candidate[],
  error: ModelError,
  { contextOf }: FallbackOptions,
): Promise<Candidate | undefined> {
  if (error.code !== "model-context-exceeded") return left.shift();
  const sizeOf = contextOf ?? findContextWindow;
  const size = (await sizeOf(failed.model)) ?? 0;
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const other = await sizeOf(next.model);
    if (other === undefined || other > size) return next;
  }
  return undefined;
}

/** How many tokens a model reads, as far as is known. */
async function findContextWindow(model: Model): Promise<number | undefined> {
  const known = await loadKnownModels();
  return known.find(providerOf(model), model.modelId)?.contextWindow;
}
