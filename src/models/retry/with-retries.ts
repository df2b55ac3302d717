import { describeCause, KitbagError } from "../../core/errors.ts";
import type { Model, ModelCall } from "../model.ts";
import { checkOptionNames } from "../check-option-names.ts";
import { asModel } from "../shims/as-model.ts";
import { keepsTime, timingOf } from "../shims/timing.ts";
import { wrapParts } from "../shims/wrap-model.ts";
import { machineClock, toAbortError, wait, type Clock } from "../../platform/clock.ts";
import { askWhole, openStream } from "./open-stream.ts";
import {
  checkTimeLimits,
  givenLimits,
  limitNames,
  limitQuestion,
  type TimedQuestion,
  type TimeLimits,
} from "./time-limits.ts";
import {
  giveUp,
  isModelError,
  isWorthRetrying,
  retryAfterOf,
  toModelError,
  type ModelError,
} from "./to-model-error.ts";

/** What is known when a model is about to be asked again. */
export interface Retry {
  readonly error: ModelError;
  /** 1 for the first time that it is asked again. */
  readonly attempt: number;
  readonly waitMs: number;
}

/** How often, when and how long {@link withRetries} asks. */
export interface RetryOptions extends Partial<TimeLimits> {
  /** How often the model is asked again; after a time-out once at most. @default 3 */
  readonly maxRetries?: number;
  /** The first wait; each wait is twice the one before, with random jitter. @default 500 */
  readonly firstDelayMs?: number;
  /** @default 30_000 */
  readonly maxDelayMs?: number;
  /** If the provider asks for a longer wait, the call fails at once, so that a fallback can take over. @default 60_000 */
  readonly maxRetryAfterMs?: number;
  /** Told before each wait. Must not throw. */
  readonly onRetry?: (retry: Retry) => void;
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number;
  /** @default the clock of the machine */
  readonly clock?: Clock;
}

type Plan = Required<Omit<RetryOptions, "onRetry" | "clock" | "random" | keyof TimeLimits>>;

const usual: Plan = {
  maxRetries: 3,
  firstDelayMs: 500,
  maxDelayMs: 30_000,
  maxRetryAfterMs: 60_000,
};

/** Who waited for a model twice in vain has waited long enough. */
const mostTimeouts = 2;

/**
 * Asks a model again when it fails in a way that passes (rate limits, overload, errors of the server, lost connections), and
 * waits for it only so long.
 *
 * **Contract**: nothing is asked again once a part of the answer was passed on: then the failure is a part of type `error` with a
 * {@link KitbagError}, followed by a `finish` that says `interrupted`. An aborted signal ends everything at once with its reason.
 * Time limits hold for each model of a `fallback` or `balance`, not for the group. What fails is a {@link KitbagError}, with no key, header or prompt in it. Parts are passed on as they come. Wrappers inside
 * wrappers do not multiply: what was tried as often as it may be is not tried again by the one outside.
 *
 * @example
 * ```ts
 * import { resolveModel, withRetries } from "kitbag/models";
 *
 * const model = withRetries(await resolveModel("ollama/qwen3"), { maxRetries: 5, firstPartMs: 20_000 });
 *
 * console.assert(model.modelId === "qwen3");
 * ```
 *
 * @throws {KitbagError} `option-invalid`, `model-unsupported`; a question rejects with `model-denied`, `model-refused`,
 * `model-context-exceeded`, `model-overloaded`, `model-unavailable`, `model-timeout`, `model-failed`
 */
export function withRetries(given: Model, options: RetryOptions = {}): Model {
  const model = asModel(given);
  checkOptionNames(options, [...Object.keys(usual), ...limitNames, "onRetry", "random", "clock"]);
  const { onRetry, random = Math.random, clock = machineClock } = options;
  const plan = toPlan(options);
  const limits = checkTimeLimits(options);

  const repeat = async <Answer>(call: ModelCall, ask: () => Promise<Answer>): Promise<Answer> => {
    let timeouts = 0;
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask();
      } catch (cause) {
        if (call.abortSignal?.aborted === true) throw toAbortError(call.abortSignal.reason);
        const error = toModelError(model, cause, clock.now());
        if (!isModelError(error) || !isWorthRetrying(error)) throw error;
        const waitMs = delay(plan, attempt, error, random);
        if (error.code === "model-timeout") timeouts += 1;
        if (attempt > plan.maxRetries || timeouts === mostTimeouts || waitMs === undefined) throw giveUp(error);
        onRetry?.({ error, attempt, waitMs });
        await wait(clock, waitMs, call.abortSignal);
      }
    }
  };
  const limit = (call: ModelCall): TimedQuestion => limitQuestion(model, call, { ...givenLimits(call), ...limits });
  const made = wrapParts(model, {
    doGenerate: (given) => {
      const { call, limits } = limit(given);
      return repeat(call, () => askWhole(model, call, { clock, limits }));
    },
    ask: (given) => {
      const { call, limits } = limit(given);
      return repeat(call, () => openStream(model, call, { clock, limits }));
    },
  });
  return timingOf(model) === "group" ? made : keepsTime(made, "single");
}

/** How long to wait; `undefined` if the provider asks for a longer wait than the plan allows. */
function delay(plan: Plan, attempt: number, error: ModelError, random: () => number): number | undefined {
  const after = retryAfterOf(error);
  if (after !== undefined) {
    // A little later than asked for, and not all at the same time.
    return after > plan.maxRetryAfterMs ? undefined : after + random() * Math.min(1000, after / 10 + 50);
  }
  const whole = Math.min(plan.maxDelayMs, plan.firstDelayMs * 2 ** (attempt - 1));
  return whole / 2 + (random() * whole) / 2;
}

function toPlan(options: RetryOptions): Plan {
  const plan = { ...usual };
  for (const name of Object.keys(usual) as (keyof Plan)[]) {
    const value = options[name];
    if (value === undefined) continue;
    const expected = checkOption(name, value);
    if (expected !== undefined)
      throw new KitbagError("option-invalid", { option: name, found: describeCause(value), expected });
    plan[name] = value;
  }
  return plan;
}

/** What it must be; `undefined` if it is. */
function checkOption(name: keyof Plan, value: unknown): string | undefined {
  if (name === "maxRetries")
    return Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : "a whole number of at least 0";
  return typeof value === "number" && value >= 0 && value !== Infinity ? undefined : "a time in ms of at least 0";
}
