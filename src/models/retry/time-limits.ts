import { describeCause, KitbagError } from "../../core/errors.ts";
import type { Model, ModelCall } from "../model.ts";
import { providerRow } from "../providers.ts";
import { timingOf } from "../shims/timing.ts";

/** How long a model is waited for, in milliseconds. `Infinity`: as long as it takes. */
export interface TimeLimits {
  /**
   * From the question to the end of the answer, each time it is asked.
   *
   * @default Infinity; for an answer that is not streamed, five times the usual `firstPartMs`
   */
  readonly requestMs: number;
  /**
   * Until something of the answer is there.
   *
   * @default 60_000; 120_000 for providers that show no sign while a model thinks; 300_000 for servers that may have to load it, and
   * for models that say that they think
   */
  readonly firstPartMs: number;
  /** From one part of the answer to the next. @default 120_000; 300_000 for servers that load a model first */
  readonly partMs: number;
}

/** The limits of one request. */
export interface RequestLimits extends TimeLimits {
  /** For an answer that is not streamed. */
  readonly wholeMs: number;
  /** Until something of the answer is there, once the model has begun to think. */
  readonly thinkingMs: number;
}

/** The names of the time limits, as options have them. */
export const limitNames = ["requestMs", "firstPartMs", "partMs"] as const satisfies readonly (keyof TimeLimits)[];

/** The limits among some options. @throws {KitbagError} `option-invalid` */
export function checkTimeLimits(options: Partial<TimeLimits>): Partial<TimeLimits> {
  const limits: { -readonly [Name in keyof TimeLimits]?: number } = {};
  for (const name of limitNames) {
    const value: unknown = options[name];
    if (value === undefined) continue;
    if (typeof value !== "number" || !(value >= 1))
      throw new KitbagError("option-invalid", {
        option: name,
        found: describeCause(value),
        expected: "a time in ms of at least 1",
      });
    limits[name] = value;
  }
  return limits;
}

const usualThinkingMs = 300_000;

/** The limits of a request to a model: what is given, and for the rest what is usual for its provider. */
function toRequestLimits(model: Pick<Model, "provider">, given: Partial<TimeLimits>): RequestLimits {
  const { firstPartMs: first, partMs } = usualLimits(model);
  return {
    requestMs: given.requestMs ?? Infinity,
    wholeMs: given.requestMs ?? first * 5,
    firstPartMs: given.firstPartMs ?? first,
    thinkingMs: given.firstPartMs ?? Math.max(first, usualThinkingMs),
    partMs: given.partMs ?? partMs,
  };
}

function usualLimits({ provider }: Pick<Model, "provider">): Pick<TimeLimits, "firstPartMs" | "partMs"> {
  const { loadsModels = false, thinksSilently } = providerRow({ provider });
  if (loadsModels) return { firstPartMs: 300_000, partMs: 300_000 };
  const isSilent = thinksSilently === true || thinksSilently?.includes(provider) === true;
  return { firstPartMs: isSilent ? 120_000 : 60_000, partMs: 120_000 };
}

/** Limits that are given around a model that has its own. */
function onlyGiven({
  requestMs = Infinity,
  firstPartMs = Infinity,
  partMs = Infinity,
}: Partial<TimeLimits>): RequestLimits {
  return { requestMs, wholeMs: requestMs, firstPartMs, thinkingMs: firstPartMs, partMs };
}

const limitsOfCall = Symbol("time limits");

interface LimitedCall extends ModelCall {
  [limitsOfCall]?: Partial<TimeLimits>;
}

/** The limits that a question brings along for each model of a group. */
export function givenLimits(call: ModelCall): Partial<TimeLimits> {
  return (call as LimitedCall)[limitsOfCall] ?? {};
}

/** How a model is asked with these limits: several models each get them, all others are watched. */
export interface TimedQuestion {
  readonly call: ModelCall;
  /** None: the model itself sees to it. */
  readonly limits?: RequestLimits;
}

/** Puts time limits on a question. */
export function limitQuestion(model: Model, call: ModelCall, given: Partial<TimeLimits>): TimedQuestion {
  const timing = timingOf(model);
  if (timing === "group") return { call: withLimits(call, given) };
  const limits = timing === "single" ? onlyGiven(given) : toRequestLimits(model, given);
  return { call: Object.hasOwn(call, limitsOfCall) ? withLimits(call, undefined) : call, limits };
}

function withLimits(call: ModelCall, given: Partial<TimeLimits> | undefined): ModelCall {
  const { [limitsOfCall]: _, ...rest } = call as LimitedCall;
  return given === undefined || Object.keys(given).length === 0
    ? rest
    : ({ ...rest, [limitsOfCall]: given } as LimitedCall);
}
