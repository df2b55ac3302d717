import { KitbagError } from "../../core/errors.ts";
import { isObject, showValue } from "../../core/json.ts";
import { findWrongOption, isFunction, type Expectations } from "../../workspace/options/find-wrong-option.ts";
import type { MockAnswer, MockAnswerParts, MockCall, MockModelOptions, MockUsage } from "./mock-answer.ts";
import type { ProviderErrorFacts } from "./provider-error.ts";

type Expectation = Expectations<{ readonly any: unknown }>["any"];

const anything: Expectation = [() => true, ""];
const aText: Expectation = [(value) => typeof value === "string", "a text"];
const aList: Expectation = [Array.isArray, "a list"];
const anObject: Expectation = [isObject, "an object"];
const aNumber: Expectation = [(value) => typeof value === "number" && value >= 0, "a number, 0 or more"];

/** Providers say what they like. */
const tokens: Expectation = [(value) => typeof value === "number", "a number"];

const optionExpectations: Expectations<MockModelOptions> = {
  provider: aText,
  modelId: aText,
  wait: [isFunction, "a function that waits"],
};

const answerExpectations: Expectations<MockAnswerParts> = {
  reasoning: [(value) => typeof value === "string" || isObject(value), "a text, or { text, metadata }"],
  text: aText,
  files: aList,
  calls: aList,
  finishReason: aText,
  usage: anObject,
  error: anything,
  refused: anObject,
  breaks: anything,
  drops: anything,
  cutAfter: aNumber,
  delayMs: aNumber,
  partDelayMs: aNumber,
  parts: aList,
};

const callExpectations: Expectations<MockCall> = { tool: aText, input: anything, id: aText };

const usageExpectations: Expectations<MockUsage> = {
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  reasoning: tokens,
};

const refusalExpectations: Expectations<ProviderErrorFacts> = {
  status: aNumber,
  retryAfterMs: aNumber,
  message: aText,
};

const anAnswer = "a text, or an object such as { text } or { calls: [{ tool }] }";

/** Checks the script of a mock model: an answer with misnamed parts would be empty. @throws {KitbagError} `option-invalid` */
export function checkMock(script: unknown, options: MockModelOptions): void {
  check(options, optionExpectations, "options");
  if (isFunction(script)) return;
  if (!Array.isArray(script)) refuse("script", script, "a list of answers, or a function that answers");
  for (const [index, answer] of (script as readonly unknown[]).entries()) {
    if (!isFunction(answer)) checkAnswer(answer, `script[${index}]`);
  }
}

/** Checks what a mock model is to answer. @throws {KitbagError} `option-invalid` */
export function checkAnswer(answer: unknown, option: string): asserts answer is MockAnswer {
  if (typeof answer === "string") return;
  if (!isObject(answer) || Array.isArray(answer)) refuse(option, answer, anAnswer);
  check(answer, answerExpectations, option);
  const { calls = [], usage, refused } = answer as MockAnswerParts;
  for (const [index, call] of calls.entries()) {
    check(call, callExpectations, `${option}.calls[${index}]`);
    if (call.tool === undefined) refuse(`${option}.calls[${index}].tool`, undefined, "the name of a tool");
  }
  if (usage !== undefined) check(usage, usageExpectations, `${option}.usage`);
  if (refused === undefined) return;
  check(refused, refusalExpectations, `${option}.refused`);
  if (refused.status === undefined) refuse(`${option}.refused.status`, undefined, "a status of HTTP, such as 429");
}

function check<Options>(value: unknown, expectations: Expectations<Options>, option: string): void {
  const wrong = findWrongOption(value, expectations, option);
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
}

function refuse(option: string, found: unknown, expected: string): never {
  throw new KitbagError("option-invalid", { option, found: showValue(found), expected });
}
