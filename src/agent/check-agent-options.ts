import type { Embedder } from "../core/embedder.ts";
import { KitbagError } from "../core/errors.ts";
import { isObject } from "../core/json.ts";
import { allKinds } from "../core/redaction/pattern-redactor.ts";
import { createOwnPrices } from "../models/prices/own-prices.ts";
import { checkModelName } from "../models/resolve/find-connection.ts";
import {
  findWrongOption,
  isFunction,
  type Expectations,
  guardsExpectation,
} from "../workspace/options/find-wrong-option.ts";
import type { AgentOptions, KeptOption, ModelSettings, RunLimits, RunOptions } from "./agent-options.ts";
import {
  aboveZero,
  aFunction,
  aList,
  aModel,
  anObject,
  aNumber,
  aText,
  refuse,
  refuseIf,
  trueOrFalse,
  type Expectation,
} from "./expectations.ts";
import type { AgentHooks } from "./hooks.ts";
import { checkMemoryOptions } from "./memory/memory-options.ts";
import type { AnswerCacheOptions } from "./run/answer-cache.ts";
import type { AgentTelemetryOptions } from "./telemetry/model-metrics.ts";

const texts: Expectation = [isTexts, "a list of texts"];
const retries: Expectation = [(value) => value === false || isObject(value), "an object, or false"];
const exposure: Expectation = [isExposure, '"direct", "announce", "dispatch" or "auto"'];
const redaction: Expectation = [isRedactionChoice, `true, false, or a list of ${allKinds.join(" and ")}`];

const agentExpectations: Expectations<AgentOptions> = {
  model: aModel,
  workspace: [isWorkspace, "a workspace"],
  instructions: aText,
  store: anObject,
  audit: [(value) => isObject(value) && "seal" in value && isFunction(value.seal), "an audit"],
  scopesOf: aFunction,
  origin: anObject,
  leaseMs: aboveZero,
  prices: anObject,
  limits: anObject,
  settings: anObject,
  exposure,
  telemetry: anObject,
  hooks: anObject,
  retries,
  cache: anObject,
  memory: anObject,
  redactInput: redaction,
  guards: guardsExpectation,
  approve: aFunction,
};

const runExpectations: Expectations<RunOptions> = {
  id: aText,
  conversation: aText,
  model: aModel,
  limits: anObject,
  settings: anObject,
  hooks: anObject,
  signal: anObject,
  skills: texts,
  output: [(value) => isObject(value) || isFunction(value), "a schema"],
  images: aList,
  user: aText,
  traceparent: aText,
  tracestate: aText,
  onEvent: aFunction,
  onText: aFunction,
  approve: aFunction,
};

const limitExpectations: Expectations<RunLimits> = {
  maxSteps: aboveZero,
  maxTokens: aboveZero,
  maxCost: aboveZero,
  maxMs: aboveZero,
  maxCalls: aboveZero,
  maxParallel: aboveZero,
  maxDepth: [(value) => typeof value === "number" && value >= 0, "a number of at least 0"],
  maxContinuations: [(value) => typeof value === "number" && value >= 0, "a number of at least 0"],
};

const settingExpectations: Expectations<ModelSettings> = {
  temperature: aNumber,
  maxOutputTokens: aboveZero,
  reasoning: aText,
  seed: aNumber,
  topP: aNumber,
  topK: aNumber,
  headers: anObject,
  providerOptions: anObject,
  stop: texts,
};

const hookExpectations: Expectations<AgentHooks> = {
  onRunStart: aFunction,
  onRunEnd: aFunction,
  onStepStart: aFunction,
  onStepEnd: aFunction,
  beforeModel: aFunction,
  afterModel: aFunction,
  onModelError: aFunction,
  beforeCall: aFunction,
  afterCall: aFunction,
};

const telemetryExpectations: Expectations<AgentTelemetryOptions> = {
  tracerProvider: anObject,
  meterProvider: anObject,
  content: trueOrFalse,
  user: trueOrFalse,
};

/**
 * Checks what `createAgent` was given, as plain JavaScript can give anything: a limit or a hook that is called otherwise would be
 * none.
 *
 * @throws {KitbagError} `option-invalid`; `model-name-invalid`, `provider-unknown`, `provider-missing`, `model-key-missing`
 */
export function checkAgentOptions(options: AgentOptions): void {
  refuseIf(findWrongOption(options, agentExpectations));
  const { model, workspace, prices = {}, telemetry = {} } = options;
  if (model === undefined) refuse("model", model, "a model, or the name of one");
  if (workspace === undefined) refuse("workspace", workspace, "a workspace");
  createOwnPrices(prices);
  checkShared(options);
  refuseIf(findWrongOption(telemetry, telemetryExpectations, "telemetry"));
  checkMemoryOptions(options.memory);
  checkCache(options.cache);
  for (const named of [model, options.memory?.summaryModel]) if (typeof named === "string") checkModelName(named);
}

const cacheExpectations: Expectations<AnswerCacheOptions> = {
  ttlMs: aboveZero,
  embedder: anObject,
  threshold: [(value) => typeof value === "number" && value >= 0 && value <= 1, "a number from 0 to 1"],
};

/** @throws {KitbagError} `option-invalid`, `embedder-missing` */
function checkCache(cache: AnswerCacheOptions | undefined): void {
  if (cache === undefined) return;
  refuseIf(findWrongOption(cache, cacheExpectations, "cache"));
  if (cache.ttlMs === undefined) refuse("cache.ttlMs", cache.ttlMs, aboveZero[1]);
  if (isFunction((cache.embedder as Partial<Embedder> | undefined)?.embed)) return;
  const cure = 'pass "embedder" with it, as in toEmbedder("local")';
  throw new KitbagError("embedder-missing", { what: "the cache of answers", cure });
}

/** Checks what a run was given. @throws {KitbagError} `option-invalid` */
export function checkRunOptions(options: RunOptions): void {
  refuseIf(findWrongOption(options, runExpectations));
  checkShared(options);
}

const keptOptions: readonly KeptOption[] = ["id", "conversation", "skills", "images"];

/** Checks what is said about a run that goes on: what it has already cannot be another. @throws {KitbagError} `option-invalid` */
export function checkResumeOptions(options: RunOptions): void {
  checkRunOptions(options);
  for (const name of keptOptions) {
    if (options[name] !== undefined)
      refuse(name, options[name], "nothing: a run that goes on, or a fork, keeps its own");
  }
}

function checkShared({ limits, settings, hooks }: Pick<AgentOptions, "limits" | "settings" | "hooks">): void {
  if (limits !== undefined) refuseIf(findWrongOption(limits, limitExpectations, "limits"));
  if (settings !== undefined) refuseIf(findWrongOption(settings, settingExpectations, "settings"));
  if (hooks !== undefined) refuseIf(findWrongOption(hooks, hookExpectations, "hooks"));
}

function isWorkspace(value: unknown): boolean {
  return isObject(value) && "openSession" in value && isFunction(value.openSession);
}

function isExposure(value: unknown): boolean {
  return typeof value === "string" && ["auto", "direct", "announce", "dispatch"].includes(value);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isRedactionChoice(choice: unknown): boolean {
  return typeof choice === "boolean" || (Array.isArray(choice) && choice.every((kind) => allKinds.includes(kind)));
}
