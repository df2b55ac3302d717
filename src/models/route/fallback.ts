import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { checkOptionNames } from "../check-option-names.ts";
import type { Model, ModelCall } from "../model.ts";
import { loadKnownModels } from "../prices/known-models.ts";
import { providerOf } from "../providers.ts";
import { machineClock, toAbortError, type Clock } from "../../platform/clock.ts";
import { checkTimeLimits, limitNames, type TimeLimits } from "../retry/time-limits.ts";
import {
  giveUp,
  isModelError,
  isModelErrorCode,
  type ModelError,
  type ModelErrorCode,
  toModelError,
} from "../retry/to-model-error.ts";
import { keepsTime } from "../shims/timing.ts";
import { wrapParts } from "../shims/wrap-model.ts";
import {
  askCandidate,
  type Candidate,
  checkModels,
  checkNumber,
  findSharedUrls,
  generateCandidate,
  onBreak,
  toCandidates,
} from "./candidate.ts";

/** What is known when the next model is asked. */
export interface Fallback {
  /** The model that failed, as `provider/model`. */
  readonly from: string;
  readonly to: string;
  readonly error: ModelError;
}

/** When {@link fallback} asks the next model. The time limits hold for each model. */
export interface FallbackOptions extends Partial<TimeLimits> {
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
  /** How long a model that hung, or broke off an answer, comes after the others. @default 30_000 */
  readonly restMs?: number;
  /** @default the clock of the machine */
  readonly clock?: Clock;
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
 * Every question starts with the first model again, unless that hung or broke off an answer a moment ago (`restMs`): an agent that goes on
 * with an answer that broke off goes on with the next model. After an overlong prompt, only models with a larger or unknown context window are
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
  checkOptionNames(options, ["on", "onFallback", "contextOf", "restMs", "clock", ...limitNames]);
  const members: Member[] = toCandidates(models).map((candidate) => ({ ...candidate, restsUntil: 0 }));
  const [first] = members as [Member];
  const { on = usual, onFallback, restMs = 30_000, clock = machineClock } = options;
  checkCodes(on);
  checkNumber("restMs", restMs, 0);
  const asking = { clock, limits: checkTimeLimits(options) };
  const isWanted = typeof on === "function" ? on : (error: ModelError) => on.includes(error.code);
  const rest = (member: Member): void => void (member.restsUntil = clock.elapsed() + restMs);

  const tryAll = async <Answer>(call: ModelCall, ask: (member: Member) => Promise<Answer>): Promise<Answer> => {
    const [start, ...left] = inOrder(members, clock.elapsed()) as [Member, ...Member[]];
    for (let candidate = start; ;) {
      try {
        return await ask(candidate);
      } catch (cause) {
        if (call.abortSignal?.aborted === true) throw toAbortError(call.abortSignal.reason);
        const error = toModelError(candidate.model, cause);
        if (!isModelError(error) || !isWanted(error)) throw error;
        if (error.code === "model-timeout") rest(candidate);
        const next = await pickNext(candidate, left, error, options);
        // All were waited for: once is enough.
        if (next === undefined) throw error.code === "model-timeout" ? giveUp(error) : error;
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
  const made = wrapParts(described, {
    doGenerate: (call) => tryAll(call, (member) => generateCandidate(member, call, asking)),
    ask: (call) =>
      tryAll(call, async (member) => {
        const answer = await askCandidate(member, call, asking);
        const source = onBreak(answer.source, (error) => isWanted(error) && rest(member));
        return { ...answer, source };
      }),
  });
  return keepsTime(made, "group");
}

interface Member extends Candidate {
  /** Until when it comes after the others, on the clock. */
  restsUntil: number;
}

/** Those that are well, then those that hung or broke off a moment ago. */
function inOrder(members: readonly Member[], now: number): Member[] {
  const rests = ({ restsUntil }: Member): boolean => restsUntil > now;
  return [...members.filter((member) => !rests(member)), ...members.filter(rests)];
}

/** @throws {KitbagError} `option-invalid` */
function checkCodes(on: unknown): void {
  if (typeof on === "function" || (Array.isArray(on) && on.every(isModelErrorCode))) return;
  const expected = `a function, or a list of codes such as ${usual.join(", ")}`;
  throw new KitbagError("option-invalid", { option: "on", found: showValue(on), expected });
}

/** Takes the next one from those that are left. */
async function pickNext(
  failed: Member,
  left: Member[],
  error: ModelError,
  { contextOf }: FallbackOptions,
): Promise<Member | undefined> {
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
