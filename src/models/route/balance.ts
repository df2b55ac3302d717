import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { checkOptionNames } from "../check-option-names.ts";
import type { Model, ModelCall, ModelPart } from "../model.ts";
import { machineClock, toAbortError, type Clock } from "../../platform/clock.ts";
import { checkTimeLimits, limitNames, type TimeLimits } from "../retry/time-limits.ts";
import {
  giveUp,
  isModelError,
  retryAfterOf,
  toModelError,
  type ModelError,
  type ModelErrorCode,
} from "../retry/to-model-error.ts";
import type { PartSource } from "../shims/part-source.ts";
import { keepsTime } from "../shims/timing.ts";
import { wrapParts } from "../shims/wrap-model.ts";
import {
  askCandidate,
  checkModels,
  checkNumber,
  findSharedUrls,
  generateCandidate,
  toCandidates,
  type Candidate,
} from "./candidate.ts";

/** One of the models that share the work. */
export interface BalancedModel {
  readonly model: Model;
  /** How much of the work it gets, compared with the others. @default 1 */
  readonly weight?: number;
}

/** What is known when a model is taken out for a while. */
export interface Outage {
  /** `provider/model`; with a number if several are called the same: `openai/gpt-6-sol#2`. */
  readonly model: string;
  readonly error: ModelError;
  readonly restMs: number;
}

/** How {@link balance} shares the work. The time limits hold for each model. */
export interface BalanceOptions extends Partial<TimeLimits> {
  /** After how many failures in a row a model is taken out; after one if it hung. @default 3 */
  readonly maxFailures?: number;
  /** For how long; then one question tries whether it is well again. @default 30_000 */
  readonly restMs?: number;
  /** Told when a model is taken out. Must not throw. */
  readonly onOutage?: (outage: Outage) => void;
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number;
  /** @default the clock of the machine */
  readonly clock?: Clock;
}

interface Member extends Candidate {
  readonly weight: number;
  inFlight: number;
  failures: number;
  /** Its last answer broke off: the next question goes to another one. */
  brokeOff: boolean;
  /** When it may be asked again, on the clock. */
  restsUntil: number;
}

/** Failures that say something about a host or a key, and nothing about the question: another one may answer. */
const ofTheHost: ReadonlySet<ModelErrorCode> = new Set<ModelErrorCode>([
  "model-denied",
  "model-overloaded",
  "model-timeout",
  "model-unavailable",
]);

/**
 * Makes one model of several equal ones, such as several keys or hosts of one model. Each question goes to the model with the least
 * load for its weight, chosen at random among equals.
 *
 * After a failure of the host or the key, the question goes to another model, as long as no part of the answer was shown. A model
 * that fails several times in a row, also in the middle of its answers, that hangs, or that asks for a pause, gets no questions for that
 * time, an hour at most; then one question tries it. The question after an answer that broke off goes to another model. If all models pause, the one whose pause ends first is asked.
 *
 * @example
 * ```ts
 * import { balance, resolveModel } from "kitbag/models";
 *
 * const model = balance([
 *   { model: await resolveModel("openai-compatible:http://127.0.0.1:8001/v1/qwen3"), weight: 2 },
 *   { model: await resolveModel("openai-compatible:http://127.0.0.1:8002/v1/qwen3") },
 * ]);
 *
 * console.assert(model.modelId === "qwen3");
 * ```
 *
 * @throws {KitbagError} `option-invalid`, `model-unsupported`; when it is asked (rejects) what the last model does.
 */
export function balance(models: readonly BalancedModel[], options: BalanceOptions = {}): Model {
  checkOptionNames(options, ["maxFailures", "restMs", "onOutage", "random", "clock", ...limitNames]);
  const members = toMembers(models);
  const { random = Math.random, clock = machineClock } = options;
  const judge = createJudge(options, clock);
  const asking = { clock, limits: checkTimeLimits(options) };

  const tryAll = async <Answer>(
    call: ModelCall,
    ask: (member: Member, release: () => void) => Promise<Answer>,
  ): Promise<Answer> => {
    const left = new Set(members);
    for (;;) {
      const member = pick([...left], clock.elapsed(), random);
      left.delete(member);
      const release = occupy(member);
      const { restsUntil } = member;
      try {
        const answer = await ask(member, release);
        // If a later question has put the model on pause meanwhile, the success of this earlier question does not end the pause.
        if (member.restsUntil === restsUntil) member.restsUntil = 0;
        return answer;
      } catch (cause) {
        release();
        if (call.abortSignal?.aborted === true) throw toAbortError(call.abortSignal.reason);
        const error = toModelError(member.model, cause, clock.now());
        if (!isModelError(error) || !ofTheHost.has(error.code)) throw error;
        judge(member, error);
        // All were waited for: once is enough.
        if (left.size === 0) throw error.code === "model-timeout" ? giveUp(error) : error;
      }
    }
  };
  const made = wrapParts(describe(members), {
    doGenerate: (call) =>
      tryAll(call, async (member, release) => {
        const answer = await generateCandidate(member, call, asking);
        member.failures = 0;
        release();
        return answer;
      }),
    ask: (call) =>
      tryAll(call, async (member, release) => {
        const answer = await askCandidate(member, call, asking);
        return { ...answer, source: watchEnd(answer.source, { member, judge, release }) };
      }),
  });
  return keepsTime(made, "group");
}

/** Together they are called as the first is. */
function describe(members: readonly Member[]): Pick<Model, "modelId" | "provider" | "supportedUrls"> {
  const [first] = members as [Member];
  return {
    provider: first.model.provider,
    modelId: first.model.modelId,
    get supportedUrls() {
      return findSharedUrls(members.map(({ model }) => model));
    },
  };
}

function toMembers(models: readonly BalancedModel[]): Member[] {
  checkModels(models);
  for (const [index, given] of models.entries()) checkBalanced(`models[${index}]`, given);
  const candidates = toCandidates(models.map(({ model }) => model));
  return candidates.map((candidate, index) => {
    const weight = models[index]?.weight ?? 1;
    checkNumber(`models[${index}].weight`, weight, Number.MIN_VALUE);
    return { ...candidate, weight, inFlight: 0, failures: 0, brokeOff: false, restsUntil: 0 };
  });
}

/** A model itself is what is given most often by mistake. */
function checkBalanced(option: string, given: unknown): void {
  if (typeof given === "object" && given !== null && !("doStream" in given)) return;
  const found = typeof given === "object" && given !== null ? "a model" : showValue(given);
  throw new KitbagError("option-invalid", { option, found, expected: "an object { model, weight }" });
}

/** The available model with the least load for its weight; without an available model, the one whose pause ends first. */
function pick(members: readonly Member[], now: number, random: () => number): Member {
  // A model that returns from a pause gets one question at a time.
  const well = members.filter(({ restsUntil, inFlight }) => restsUntil <= now && (restsUntil === 0 || inFlight === 0));
  if (well.length === 0) return least(members, ({ restsUntil }) => restsUntil)[0] as Member;
  const whole = well.filter(({ brokeOff }) => !brokeOff);
  for (const member of members) member.brokeOff = false;
  const free = least(whole.length === 0 ? well : whole, ({ inFlight, weight }) => inFlight / weight);
  let chance = random() * free.reduce((sum, { weight }) => sum + weight, 0);
  for (const member of free) {
    chance -= member.weight;
    if (chance < 0) return member;
  }
  return free.at(-1) as Member;
}

function least(members: readonly Member[], measure: (member: Member) => number): Member[] {
  const smallest = Math.min(...members.map(measure));
  return members.filter((member) => measure(member) === smallest);
}

function occupy(member: Member): () => void {
  let isOver = false;
  member.inFlight += 1;
  return () => {
    if (!isOver) member.inFlight -= 1;
    isOver = true;
  };
}

/** However long a provider wants to be left alone: a question now and then finds out whether it meant that. */
const longestRestMs = 3_600_000;

type Judge = (member: Member, error: ModelError) => void;

function createJudge(options: BalanceOptions, clock: Clock): Judge {
  const { maxFailures = 3, restMs: usualMs = 30_000, onOutage } = options;
  checkNumber("maxFailures", maxFailures, 1);
  checkNumber("restMs", usualMs, 0);
  return (member, error) => {
    member.failures += 1;
    const after = retryAfterOf(error);
    // To wait for it in vain once more would take too long.
    if (member.failures < maxFailures && after === undefined && error.code !== "model-timeout") return;
    const restMs = Math.min(after ?? usualMs, Math.max(usualMs, longestRestMs));
    member.restsUntil = clock.elapsed() + restMs;
    onOutage?.({ model: member.id, error, restMs });
  };
}

interface Asked {
  readonly member: Member;
  readonly judge: Judge;
  readonly release: () => void;
}

/** Whether a model is well is known at the end of its answer: it may break off in the middle of each. */
function watchEnd(source: PartSource, { member, judge, release }: Asked): PartSource {
  let hasFailed = false;
  const look = (part: ModelPart): void => {
    if (part.type === "error" && isModelError(part.error) && ofTheHost.has(part.error.code)) {
      if (!hasFailed) judge(member, part.error);
      hasFailed = member.brokeOff = true;
    }
    if (part.type === "finish" && !hasFailed) member.failures = 0;
  };
  return {
    ...source,
    async next() {
      try {
        const part = await source.next();
        if (part !== undefined) look(part);
        if (part === undefined || part.type === "finish") release();
        return part;
      } catch (cause) {
        release();
        throw cause;
      }
    },
    cancel(reason) {
      release();
      return source.cancel(reason);
    },
  };
}
