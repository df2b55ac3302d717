import { KitbagError, type ErrorDetails } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import { allKinds } from "../core/redaction/pattern-redactor.ts";
import { createOwnPrices } from "../models/prices/own-prices.ts";
import {
  findWrongOption,
  isAboveZero,
  isFunction,
  isObject,
  type Expectations,
} from "../workspace/find-wrong-option.ts";
import type { AgentOptions, ModelSettings, RunLimits, RunOptions } from "./agent-options.ts";
import type { Breakpoint, DebuggerOptions } from "./debug/create-debugger.ts";
import type { AgentHooks } from "./hooks.ts";
import type { ForkChanges } from "./log/fork-run.ts";
import { checkMemoryOptions } from "./memory/memory-options.ts";
import { isOutcome } from "./run/ask-before-call.ts";
import type { AgentTelemetryOptions } from "./telemetry/agent-telemetry-options.ts";

type Expectation = Expectations<{ readonly any: unknown }>["any"];

const anObject: Expectation = [isObject, "an object"];
const aFunction: Expectation = [isFunction, "a function"];
const aText: Expectation = [(value) => typeof value === "string", "a text"];
const aNumber: Expectation = [(value) => typeof value === "number", "a number"];
const aboveZero: Expectation = [isAboveZero, "a number above 0"];
const trueOrFalse: Expectation = [(value) => typeof value === "boolean", "true or false"];
const aList: Expectation = [Array.isArray, "a list"];
const texts: Expectation = [isTexts, "a list of texts"];
const aModel: Expectation = [isModel, "a model, or the name of one"];
const retries: Expectation = [(value) => value === false || isObject(value), "an object, or false"];
const exposure: Expectation = [isExposure, '"direct", "announce", "dispatch" or "auto"'];
const redaction: Expectation = [isRedactionChoice, `true, false, or a list of ${allKinds.join(" and ")}`];

const agentExpectations: Expectations<AgentOptions> = {
  model: aModel,
  workspace: [isWorkspace, "a workspace"],
  instructions: aText,
  store: anObject,
  origin: anObject,
  leaseMs: aboveZero,
  prices: anObject,
  limits: anObject,
  settings: anObject,
  exposure,
  telemetry: anObject,
  hooks: anObject,
  retries,
  memory: anObject,
  redactInput: redaction,
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

const forkExpectations: Expectations<ForkChanges> = {
  id: aText,
  say: aText,
  outcomes: [(value) => isObject(value) && Object.values(value).every(isOutcome), "an object of outcomes"],
  inputs: anObject,
  messages: aList,
};

const debuggerExpectations: Expectations<DebuggerOptions> = {
  breakpoints: aList,
  stopAtStart: trueOrFalse,
  onStop: aFunction,
  stop: aFunction,
};

const breakpointExpectations: Expectations<Breakpoint> = {
  step: aboveZero,
  tool: aText,
  when: aFunction,
};

/**
 * Checks what `createAgent` was given, as plain JavaScript can give anything: a limit or a hook that is called otherwise would be
 * none.
 *
 * @throws {KitbagError} `option-invalid`
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
}

/** Checks what a run was given. @throws {KitbagError} `option-invalid` */
export function checkRunOptions(options: RunOptions): void {
  refuseIf(findWrongOption(options, runExpectations));
  checkShared(options);
}

/** Checks what is to be different in a fork: it would be in its journal for ever. @throws {KitbagError} `option-invalid` */
export function checkForkChanges(changes: ForkChanges): void {
  refuseIf(findWrongOption(changes, forkExpectations, "changes"));
}

/** Checks what `createDebugger` was given: a breakpoint that is called otherwise would never stop. @throws {KitbagError} `option-invalid` */
export function checkDebuggerOptions(options: DebuggerOptions): void {
  refuseIf(findWrongOption(options, debuggerExpectations));
  const { onStop, stop, breakpoints = [] } = options;
  if (onStop === undefined) refuse("onStop", onStop, "a function");
  if (stop === undefined) refuse("stop", stop, "a function");
  for (const [index, breakpoint] of breakpoints.entries()) {
    refuseIf(findWrongOption(breakpoint, breakpointExpectations, `breakpoints[${index}]`));
  }
}

function checkShared({ limits, settings, hooks }: Pick<AgentOptions, "limits" | "settings" | "hooks">): void {
  if (limits !== undefined) refuseIf(findWrongOption(limits, limitExpectations, "limits"));
  if (settings !== undefined) refuseIf(findWrongOption(settings, settingExpectations, "settings"));
  if (hooks !== undefined) refuseIf(findWrongOption(hooks, hookExpectations, "hooks"));
}

function refuseIf(wrong: ErrorDetails["option-invalid"] | undefined): void {
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
}

function refuse(option: string, found: unknown, expected: string): never {
  throw new KitbagError("option-invalid", { option, found: showValue(found), expected });
}

function isModel(value: unknown): boolean {
  return typeof value === "string" || (isObject(value) && "doStream" in value && isFunction(value.doStream));
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
