import { describeCause, KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { withImages } from "../images/with-images.ts";
import type { Model, ModelAnswer, ModelCall, ModelContent, ModelPart } from "../model.ts";
import { withOutput } from "../output/with-output.ts";
import { loadKnownModels } from "../prices/known-models.ts";
import { providerRow } from "../providers.ts";
import type { Clock } from "../../platform/clock.ts";
import { askWhole, openStream } from "../retry/open-stream.ts";
import { givenLimits, limitQuestion, type TimedQuestion, type TimeLimits } from "../retry/time-limits.ts";
import { isModelError, nameOf, type ModelError } from "../retry/to-model-error.ts";
import { asModel } from "../shims/as-model.ts";
import { withSafeIds } from "../shims/call-ids.ts";
import { mapSource, type PartAnswer, type PartSource } from "../shims/part-source.ts";
import { namespacesOf, toMaker, toOwnCall, type Reader } from "./own-prompt.ts";

/** A model that may be asked, among others. */
export interface Candidate extends Reader {
  readonly model: Model;
  /** How it is called in messages: `openai/gpt-6-sol`. */
  readonly name: string;
}

/** @throws {KitbagError} `option-invalid` if it is no list, or there is nothing in it. */
export function checkModels(models: unknown): void {
  if (Array.isArray(models) && models.length > 0) return;
  const found = Array.isArray(models) ? "an empty list" : showValue(models);
  throw new KitbagError("option-invalid", { option: "models", found, expected: "a list of at least one model" });
}

/** @throws {KitbagError} `option-invalid` if it is no number of at least `least`. */
export function checkNumber(option: string, value: unknown, least: number): void {
  if (typeof value === "number" && Number.isFinite(value) && value >= least) return;
  const expected = least === Number.MIN_VALUE ? "a number above 0" : `a number of at least ${least}`;
  throw new KitbagError("option-invalid", { option, found: describeCause(value), expected });
}

/**
 * Gives each model a name, and converts images and call ids to forms that it accepts. Models with the same name are numbered, because
 * their ids and signatures differ.
 */
export function toCandidates(models: readonly Model[]): Candidate[] {
  const counts = new Map<string, number>();
  return models.map((given) => {
    const model = asModel(given);
    const name = nameOf(model);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const id = count === 1 ? name : `${name}#${count}`;
    return { model: withImages(withOutput(withSafeIds(model))), name, id, namespaces: namespacesOf(model.provider) };
  });
}

/** How a candidate is asked. */
export interface AskOptions {
  readonly clock: Clock;
  /** The time limits of the group: they hold for each of its models. */
  readonly limits: Partial<TimeLimits>;
}

/** Asks for the parts of an answer; rejects as long as none was shown. */
export async function askCandidate(candidate: Candidate, given: ModelCall, options: AskOptions): Promise<PartAnswer> {
  const priced = loadPrices(candidate);
  const { clock } = options;
  const { call, limits } = toTimed(candidate, given, options);
  const answer = await openStream(candidate.model, call, { clock, limits });
  await priced;
  return { ...answer, source: mapSource(answer.source, (part) => markPart(part, candidate)) };
}

/** The parts of an answer; `tell` is called with what breaks it off. */
export function onBreak(source: PartSource, tell: (error: ModelError) => void): PartSource {
  return mapSource(source, (part) => {
    if (part.type === "error" && isModelError(part.error)) tell(part.error);
    return part;
  });
}

/** Asks for a whole answer. */
export async function generateCandidate(
  candidate: Candidate,
  given: ModelCall,
  options: AskOptions,
): Promise<ModelAnswer> {
  const priced = loadPrices(candidate);
  const { clock } = options;
  const { call, limits } = toTimed(candidate, given, options);
  const answer = await askWhole(candidate.model, call, { clock, limits });
  await priced;
  const content = answer.content.map((item) => markPart(item, candidate));
  return { ...answer, content, providerMetadata: withMaker(answer.providerMetadata, candidate) };
}

function toTimed(candidate: Candidate, call: ModelCall, { limits }: AskOptions): TimedQuestion {
  return limitQuestion(candidate.model, toOwnCall(call, candidate), { ...givenLimits(call), ...limits });
}

/** A cost counter loads prices for the first model only, so this loads those of the model that answers, before the answer ends. */
function loadPrices({ model }: Candidate): Promise<unknown> | undefined {
  return providerRow(model).isFree === true ? undefined : loadKnownModels().catch(() => undefined);
}

/** Says who made the calls, the parts that hold something of their provider, and the end of the answer. */
function markPart<Made extends ModelContent | ModelPart>(part: Made, candidate: Candidate): Made {
  const { type, providerMetadata, providerExecuted } = part as Marked;
  const isMarked = type === "finish" || type === "tool-call" || providerExecuted === true;
  if (!isMarked && providerMetadata === undefined) return part;
  return { ...part, providerMetadata: withMaker(providerMetadata, candidate) };
}

interface Marked {
  readonly type: string;
  readonly providerMetadata?: ModelAnswer["providerMetadata"];
  readonly providerExecuted?: boolean;
}

/** Where one wrapper stands in another, `model` is the one that answered at last. */
function withMaker(
  metadata: ModelAnswer["providerMetadata"],
  candidate: Candidate,
): NonNullable<ModelAnswer["providerMetadata"]> {
  const mark = metadata?.["kitbag"];
  return { ...metadata, kitbag: { model: candidate.name, ...mark, by: toMaker(candidate, mark?.["by"]) } };
}

/** The URLs that all of them read themselves. */
export async function findSharedUrls(models: readonly Model[]): Promise<Record<string, RegExp[]>> {
  const [first = {}, ...others] = await Promise.all(models.map(async (model) => model.supportedUrls));
  const shared: Record<string, RegExp[]> = {};
  for (const [type, patterns] of Object.entries(first)) {
    const all = patterns.filter((pattern) =>
      others.every((urls) => urls[type]?.some((other) => String(other) === String(pattern)) === true),
    );
    if (all.length > 0) shared[type] = all;
  }
  return shared;
}
